"""Ground floor: paths, files, ids, processes, problems. Knows nothing of harnesses."""
