"""Nodes: one node of a cluster as a host of the network: its process, its leadership, its links to other clusters."""
