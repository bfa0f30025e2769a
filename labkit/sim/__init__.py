"""Time, distance and bad luck: a simulated network that carries messages without opening them.

`clock` owns simulated time, `dice` every random draw, `topology` the distances, `network` the messages in
flight, and `faults` what goes wrong.  All of it is saved as plain values and built again from them.
"""
