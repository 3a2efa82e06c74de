"""Bounds as files: looked over, and joined."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barry_cli.policy.schema import Bound


def validated(file: str) -> tuple[list[str], list[str]]:
    """Every problem of a bound file, and what is probably not meant.

    Raises BoundNotFound where there is no such file.
    """
    from barry_cli.base.paths import folders
    from barry_cli.policy.bound_file import BoundRefused, read_bound_file
    from barry_cli.policy.hints import hints
    from barry_cli.registry.store import read_rows

    try:
        bound = read_bound_file(os.path.expanduser(file))
    except BoundRefused as problem:
        return problem.problems, []
    return [], hints(bound, read_rows(folders()))


def merged(words: Sequence[str]) -> tuple[Bound, list[str]]:
    """The bounds of these names and files as one, as they are written, and what to know of it."""
    from barry_cli.base.paths import folders
    from barry_cli.policy.bound_file import read_bound_file
    from barry_cli.policy.lookup import is_path
    from barry_cli.policy.merge import merge_with_notes
    from barry_cli.policy.named import NamedBounds
    from barry_cli.policy.schema import Bound
    from barry_cli.registry.store import read_rows

    home = folders()
    named = NamedBounds(home, read_rows(home))
    bounds = [
        read_bound_file(os.path.expanduser(word)) if is_path(word) else named.find(word).read()
        for word in words
    ]
    joined = merge_with_notes(bounds, list(words))
    return joined.bound or Bound(), list(joined.notes)
