"""Running adapters' evidence on real binaries."""
