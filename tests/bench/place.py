"""What is measured: the wheel in a fresh environment, and homes to run it in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

from barry_cli.registry.content import content_hash
from tests.toy import ROOT, Toys, write_adapter, write_harness

MANY = 200
"""How many adapters are listed."""

# Says its version, and otherwise ends at once: what is left of a launch is Barry's.
QUICK = '#!/bin/sh\ncase "$1" in --version) echo "toy 1.2.3" ;; esac\n'


def run(*argv: object, cwd: Path, env: dict[str, str] | None = None) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(each) for each in argv],
        cwd=cwd,
        env=clean if env is None else env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Place:
    """An installed Barry, and the environment that it is run in."""

    top: Path
    programs: Path
    env: dict[str, str]

    @property
    def python(self) -> str:
        return str(self.programs / "python")

    @property
    def barry(self) -> str:
        return str(self.programs / "barry")

    def home(self, name: str) -> dict[str, str]:
        """The environment with a Barry home of this name."""
        return {**self.env, "BARRY_HOME": str(self.top / name)}


def install(top: Path) -> Place:
    """The wheel, built from the tree, in an environment of its own, all of it compiled.

    Its dependencies are those of this environment, found through a .pth file.
    """
    wheels = top / "wheels"
    build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", wheels)
    run(sys.executable, *build, cwd=ROOT)
    (wheel,) = wheels.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", top / "venv", cwd=top)
    programs = top / "venv" / "bin"
    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    quiet = ("--disable-pip-version-check", "--quiet", "--no-deps", "--no-index")
    run(*pip, "install", *quiet, "--compile", wheel, cwd=top)
    site = run(programs / "python", "-c", "import site; print(site.getsitepackages()[0])", cwd=top)
    Path(site.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    write_harness(top / "bin" / "toy", QUICK)
    (top / "home").mkdir()
    env = {
        "PATH": f"{top / 'bin'}:/usr/bin:/bin",
        "HOME": str(top / "home"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    return Place(top, programs, env)


def many_adapters(place: Place, toys: Toys) -> dict[str, str]:
    """A home with many adapters, each a package of its own."""
    plain = toys.record()
    packages = [
        write_adapter(place.top / "packages" / f"toy{number}", id=f"toy{number}", aliases=())
        for number in range(MANY)
    ]
    time.sleep(2.1)  # files that are younger are not told apart by their times
    rows = []
    for package in packages:
        entry = f"barry_adapter_{package.name}:adapter"
        content = content_hash(str(package), entry)
        rows.append(
            {
                **plain,
                "id": package.name,
                "aliases": [],
                "path": str(package),
                "entry": entry,
                "contentHash": content.hash,
                "contentStamp": content.stamp,
            }
        )
    return home_with(place, "many", rows)


def home_with(place: Place, name: str, rows: list[dict[str, object]]) -> dict[str, str]:
    """A home with these records."""
    registry = place.top / name / "data" / "adapters.json"
    registry.parent.mkdir(parents=True, mode=0o700)
    registry.write_text(json.dumps({"schema": 1, "adapters": rows}, indent=2))
    return place.home(name)
