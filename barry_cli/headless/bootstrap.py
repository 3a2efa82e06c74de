"""What is installed where an agent runs and its program is missing (seed 004).

Only an executor elsewhere installs; on this machine the program is the user's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from barry_cli.headless.faults import AgentFault

_NPM = re.compile(
    r"npm:(?P<package>(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*)@(?P<version>\d[0-9A-Za-z.+-]*)\Z"
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One package at one version."""

    package: str
    version: str

    def command(self, prefix: str) -> tuple[str, ...]:
        """What installs it into a private folder, running no script of the package's."""
        return (
            *("npm", "install", "--prefix", prefix, "--ignore-scripts", "--no-audit", "--no-fund"),
            *("--no-save", "--", f"{self.package}@{self.version}"),
        )


def recipe(text: str) -> Recipe:
    """The recipe of a name. Raises AgentFault (``configuration``) when it names none."""
    match = _NPM.match(text)
    if match is None:
        raise AgentFault(
            "configuration",
            f"there is no way to install {text!r}",
            hint="a recipe is written npm:PACKAGE@VERSION, the version in full",
        )
    return Recipe(match["package"], match["version"])
