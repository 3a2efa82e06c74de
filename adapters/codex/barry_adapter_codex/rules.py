"""The user's own rules for commands, which Codex goes by before it asks anybody."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from barry_adapter_codex.places import codex_home

SYSTEM = Path("/etc/codex/rules")

_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_RULE = re.compile(r"\b\w*rule\s*\(")
_STRICT = re.compile(r"""\bdecision\s*=\s*["'](?:prompt|forbidden)["']""")


def allowing(env: Mapping[str, str | None]) -> list[Path]:
    """The files with rules that may let a command run unasked: a rule without a decision allows.

    What can't be read may allow as well.
    """
    found: list[Path] = []
    for folder in (codex_home(env) / "rules", SYSTEM):
        found += [path for path in sorted(folder.glob("*.rules")) if _may_allow(path)]
    return found


def _may_allow(path: Path) -> bool:
    try:
        text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return True
    return bool(text.strip()) and not len(_RULE.findall(text)) == len(_STRICT.findall(text)) > 0
