"""Our bash reader: a command line in, every command in it out. See `reading.read`."""
