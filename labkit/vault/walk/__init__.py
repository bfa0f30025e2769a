"""Walk: the steps of a request, from its route to its answer, and how one that waits is resumed."""
