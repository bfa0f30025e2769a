"""Quotas: how many requests a client may send, and how many leases there may be.

``rules`` says what a quota is and which one decides, ``rate_limits`` counts requests, ``lease_counts`` leases.  Where
there are no quotas nothing of it is loaded (R24): a request costs one look whether there are any.
"""
