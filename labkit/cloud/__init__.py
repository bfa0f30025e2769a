"""The simulated cloud: an identity provider, compute metadata and a directory of applications, as one service.

It is a service like the vault: a Request in, a Response out; time and entropy are handed in.
"""
