"""What a session says of its promises when it starts (seed 001)."""

from __future__ import annotations

import sys

from barry_cli.contract.adapter import Mode
from barry_cli.contract.data import Data
from barry_cli.contract.guarantees import Guarantees


class SessionDeclaration(Data):
    """What is promised, and whether it was shown for this build on this platform."""

    guarantees: Guarantees
    guarantees_unverified: bool
    harness_version: str | None = None


def declare_session(
    mode: Mode, observed_version: str | None = None, *, platform: str = sys.platform
) -> SessionDeclaration:
    """The declaration of a session in this mode.

    An unknown build is no mismatch: not every harness reports one, and a flag that is always set
    says nothing. Another build than the verified one, or a platform where nothing was shown, is.
    """
    other_build = observed_version is not None and observed_version != mode.verified_on
    elsewhere = mode.platforms is not None and platform not in mode.platforms
    return SessionDeclaration(
        guarantees=mode.guarantees,
        guarantees_unverified=other_build or elsewhere,
        harness_version=observed_version,
    )
