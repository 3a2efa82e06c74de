"""Installs the pinned harnesses into .harnesses and checks that each answers its version.

Doing it twice costs nothing: npm runs only when a program is missing or of another build.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent.parent / ".harnesses"
ANSWER_SECONDS = 60
NPM_SECONDS = 1500

# A lock file names no host, and npm talks to the registry alone.
NPMRC = """\
omit-lockfile-registry-resolved=true
audit=false
fund=false
update-notifier=false
"""


def wanted() -> dict[str, str]:
    """Program -> the version that it must answer."""
    pins = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    return {program: pins["dependencies"][name] for program, name in pins["programs"].items()}


def answer(program: Path) -> str:
    """What a program prints when asked for its version, or why there is no answer."""
    with tempfile.TemporaryDirectory(prefix="barry-harness-") as home:
        env = {"HOME": home, "PATH": os.environ.get("PATH", os.defpath), "TERM": "dumb"}
        try:
            ended = subprocess.run(
                [program, "--version"],
                env=env,
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=ANSWER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no answer in {ANSWER_SECONDS} s"
        except OSError as error:
            return f"it can't be run: {error.strerror or error}"
    return (
        ended.stdout + "\n" + ended.stderr
    ).strip() or f"nothing, exit status {ended.returncode}"


def wrong(programs: dict[str, str]) -> list[str]:
    """One sentence for each program that isn't the pinned build."""
    found = []
    for program, version in programs.items():
        path = TARGET / "node_modules" / ".bin" / program
        said = answer(path) if path.exists() else "it is not installed"
        if version not in said.split():
            found.append(f"{program} is pinned to {version}, and: {said.splitlines()[-1]}")
    return found


def npm_install() -> str | None:
    """Runs npm in the target folder; why it failed, or None."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not on PATH: install Node 20 or newer with npm, then run this again"
    TARGET.mkdir(exist_ok=True)
    shutil.copyfile(HERE / "package.json", TARGET / "package.json")
    (TARGET / ".npmrc").write_text(NPMRC, encoding="utf-8")
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        ended = subprocess.run(command, cwd=TARGET, timeout=NPM_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"npm had not finished after {NPM_SECONDS} s: is the package registry reachable?"
    if ended.returncode != 0:
        return f"npm failed with exit status {ended.returncode}: its own words are above"
    return None


def main() -> int:
    programs = wanted()
    if wrong(programs):
        print(f"installing {len(programs)} harnesses into {TARGET.name} (once)", file=sys.stderr)
        problem = npm_install()
        problems = [problem] if problem else wrong(programs)
        for each in problems:
            print(f"error: {each}", file=sys.stderr)
        if problems:
            return 1
    (TARGET / ".installed").touch()
    print("harnesses: " + ", ".join(f"{name} {version}" for name, version in programs.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
