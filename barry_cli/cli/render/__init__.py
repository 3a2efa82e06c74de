"""How results look: plain columns, one-line talk, JSON documents."""
