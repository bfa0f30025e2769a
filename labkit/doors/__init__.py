"""Doors: how other programs' clients reach a vault or a cluster of a lab, in process or over a socket."""
