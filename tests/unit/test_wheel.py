"""What people install: the wheel has exactly what it should, and works away from the tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Everything that may be in a wheel, one line for each reason to be there.
WANTED = [
    r"barry_cli/([a-z_]+/)*[a-z_0-9]+\.py",
    r"barry_cli/py\.typed",
    r"barry_cli/policy/shipped/[a-z-]+\.toml",
    r"barry_cli/contract/line\.js",
    r"barry_cli/_shipped/[a-z-]+/(pyproject\.toml|README\.md)",
    r"barry_cli/_shipped/[a-z-]+/barry_adapter_[a-z_]+/([a-z_]+/)*[a-z_0-9]+\.(py|js|ts|toml|json)",
    r"barry_cli-[0-9.]+\.data/scripts/barry",
    r"barry_cli-[0-9.]+\.data/data/share/man/man1/barry[a-z-]*\.1",
    r"barry_cli-[0-9.]+\.data/data/share/bash-completion/completions/barry",
    r"barry_cli-[0-9.]+\.data/data/share/zsh/site-functions/_barry",
    r"barry_cli-[0-9.]+\.data/data/share/fish/vendor_completions\.d/barry\.fish",
    r"barry_cli-[0-9.]+\.dist-info/(METADATA|WHEEL|RECORD|licenses/LICENSE)",
]


def run(*argv: object, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [str(each) for each in argv],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, cwd=ROOT)
    (built,) = out.glob("*.whl")
    return built


def tracked(*patterns: str) -> set[str]:
    """The tree's own files that match, whether committed yet or not."""
    listed = run(
        "git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns, cwd=ROOT
    )
    return {name for name in listed.splitlines() if (ROOT / name).is_file()}


def test_the_wheel_has_what_it_should_and_no_more(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if not any(re.fullmatch(each, name) for each in WANTED)] == []
    packed = {name for name in names if ".dist-info/" not in name and ".data/" not in name}
    shipped = {
        f"barry_cli/_shipped/{name.removeprefix('adapters/')}" for name in tracked("adapters")
    }
    assert packed == tracked("barry_cli") | shipped


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs' folder of a fresh environment with the wheel and its dependencies.

    The dependencies are those of this environment, found through a .pth file; Barry itself, which
    stands there too, is found in the fresh one first.
    """
    place = tmp_path_factory.mktemp("elsewhere") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place.parent)
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=place.parent)
    site = run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=place.parent)
    Path(site.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin"


def test_it_runs_away_from_the_tree(installed: Path, tmp_path: Path, home: Path) -> None:
    env = {"PYTHONPATH": "", "HOME": str(home)}
    where = run(
        installed / "python",
        "-c",
        "import barry_cli; print(barry_cli.__file__)",
        cwd=tmp_path,
        **env,
    )
    assert Path(where.strip()).is_relative_to(installed.parent)
    assert run(installed / "barry", "--version", cwd=tmp_path, **env).startswith("barry ")


def test_the_shipped_adapters_are_found(installed: Path, tmp_path: Path) -> None:
    for each in sorted((ROOT / "adapters").iterdir()):
        if (each / "pyproject.toml").is_file():
            run(installed / "barry", "adapter", "check", each.name, cwd=tmp_path)


def test_the_demo_is_ready(installed: Path, tmp_path: Path) -> None:
    barry = installed / "barry"
    run(barry, "adapter", "add", "demo", cwd=tmp_path)
    plan = run(barry, "session", "launch", "demo", "--dry-run", cwd=tmp_path)
    assert "demo" in plan
    assert str(ROOT) not in plan


def test_a_folder_on_pythonpath_stands_in_for_nothing(installed: Path, tmp_path: Path) -> None:
    for name in ("json.py", "sqlite3.py", "barry_cli/__init__.py"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("raise SystemExit('another module was run')")
    listed = run(installed / "barry", "session", "list", cwd=tmp_path, PYTHONPATH=".")
    assert "no session yet" in listed


@pytest.mark.parametrize("named", [".", ":", "/nowhere:."])
def test_nor_where_it_is_installed_from_the_tree(tmp_path: Path, named: str) -> None:
    """There the package lies in no folder of Python's own."""
    for name in ("json.py", "barry_cli/__init__.py"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("raise SystemExit('another module was run')")
    barry = ROOT / "bin" / "barry"
    listed = run(sys.executable, barry, "session", "list", cwd=tmp_path, PYTHONPATH=named)
    assert "no session yet" in listed
