"""What a server is: a Request in, a Response out, no sockets.

A service declares its endpoints as tables of routes (``routing``), each field once (``fields``), raises refusals
(``errors``) and exchanges plain records (``message``).  ``openapi`` writes the manual out of the same tables.
"""
