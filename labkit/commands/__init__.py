"""The commands of the command line, one file each; a command imports what it needs when it is called."""
