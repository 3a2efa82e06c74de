"""One verdict for one tool call. Builtins only: this is the fast door."""
