"""``python -m barry_cli.cli.make_pages FOLDER``: write man/ and completions/ below a folder."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from barry_cli import __version__
from barry_cli.cli.app import whole
from barry_cli.cli.pages.completion import FILES, completion
from barry_cli.cli.pages.man import pages
from barry_cli.cli.pages.tree import tree


def made() -> dict[str, str]:
    """Relative path -> text, of every generated file."""
    top = tree(typer.main.get_command(whole()))
    files = {f"man/{name}": text for name, text in pages(top, __version__).items()}
    files |= {f"completions/{name}": completion(shell, top) for shell, name in FILES.items()}
    return files


def main(folder: Path) -> None:
    """Write the files."""
    for name, text in made().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
