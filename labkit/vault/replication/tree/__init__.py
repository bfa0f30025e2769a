"""Tree: the journal of entries and the Merkle index over what is replicated."""
