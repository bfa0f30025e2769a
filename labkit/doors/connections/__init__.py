"""Connections: how a server reads its sockets, answers the usual requests, and looks after what is unread."""
