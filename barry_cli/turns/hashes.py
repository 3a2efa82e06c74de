"""One hash for one value: what makes the same request the same (seed 001)."""

from __future__ import annotations

from barry_cli.base.canonical import canonical_hash


def execution_hash(value: object) -> str:
    """SHA-256 of the value's canonical JSON, in hex. Raises NotCanonical."""
    return canonical_hash(value)
