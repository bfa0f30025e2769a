"""No return: from when on a run breaks what it is to keep, whatever is done, and whatever luck it has."""
