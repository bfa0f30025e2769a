"""Time, distance and faults: a simulated network that carries messages without opening them.

`clock` owns simulated time, `random_streams` every random draw, `topology` the distances, `network` the messages in
flight, and `faults` the failures.  All of it is saved as plain values and built again from them.
"""
