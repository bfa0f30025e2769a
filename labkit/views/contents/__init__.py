"""Contents: what each picture says, as data and in words."""
