"""Operations: what an operator does, from a host beside a cluster: requests, runbooks, operation tokens."""
