"""What the documents say is so."""

from __future__ import annotations

from pathlib import Path

from tests.unit.documents import ROOT, Bash, Document

CONTRIBUTING = Document(ROOT / "CONTRIBUTING.md")


def test_the_recipe_makes_an_adapter(tmp_path: Path) -> None:
    shell = Bash(tmp_path)
    try:
        for block in CONTRIBUTING.blocks(below="Add a harness"):
            if block.file is not None:
                path = tmp_path / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                shell.follow(block.text)
    finally:
        shell.close()
