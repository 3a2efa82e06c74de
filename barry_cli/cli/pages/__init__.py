"""Manual pages and completions, made from the tree of verbs."""
