"""Hosts: what stands beside the nodes: clients, load balancers, the cloud, an impostor."""
