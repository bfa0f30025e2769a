"""Documents: a file as plain data with positions, with the lab that it shares and the values of its matrix put in."""
