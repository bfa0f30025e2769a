"""Disaster-recovery replication: one cluster's storage, carried to others that can take its place."""
