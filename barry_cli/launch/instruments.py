"""What an instrumented launch puts into its session: the compiled policy, the hooks, the secrets.

All of it lies in a private folder that lives as long as the launch; the policy's floor keeps the
agent from writing there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barry_cli.capture.otlp import Door, wanted
from barry_cli.contract.draft import private_folder
from barry_cli.contract.instrument import HookCall, Instrument
from barry_cli.hook.install import (
    NOTICE_PROGRAM,
    PROGRAM,
    SECONDS,
    Installed,
    install,
    is_ruled,
)
from barry_cli.inbox.identity import new_token, token_digest
from barry_cli.inbox.place import path_of
from barry_cli.launch.inside import Within
from barry_cli.policy.cache import keep_bundles
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.ruling.policy import Policy, dump

if TYPE_CHECKING:
    from barry_cli.bags.manifest import BagManifest, HookFormat
    from barry_cli.base.paths import Folders
    from barry_cli.contract.adapter import Adapter
    from barry_cli.policy.schema import Bound

SESSION, TOKEN, HOME = "BARRY_SESSION", "BARRY_TOKEN", "BARRY_HOME"
"""What a child of the session finds it by."""

# A bash whose input is a socket, as programs of node start it, runs ~/.bashrc before its command
# unless it is the second of its line: what an agent writes there could end a hook with success.
_SECOND = {"SHLVL": "1"}

_REFUSES = HookCall(command="exit 2", words=("/bin/false",))
_SILENT = HookCall(command="exit 0", words=("/bin/true",))


@dataclass(frozen=True, kw_only=True)
class Instruments:
    """What was put together for one session."""

    session_id: str
    folder: Path
    policy: Policy
    formats: tuple[HookFormat, ...]
    installed: Installed | None
    """The hooks; None where the harness calls none, and a plugin has to rule."""
    token: str
    within: Within
    instrument: Instrument
    door: Door | None
    """Where the harness is to report its telemetry; None where it is not asked to."""

    @property
    def variables(self) -> Mapping[str, str]:
        """What the harness's environment has besides."""
        home = os.environ.get(HOME)
        found = {} if not home else {HOME: os.path.abspath(os.path.expanduser(home))}
        return {SESSION: self.session_id, TOKEN: self.token, **_SECOND, **found}

    @property
    def asked(self) -> dict[str, Any]:
        """The fields of a session's configuration that all this is asked for with."""
        door = self.door
        return {
            "instrument": self.instrument,
            "telemetry_endpoint": door.endpoint if door is not None else None,
            "telemetry_headers": door.headers if door is not None else None,
        }

    @property
    def digest(self) -> str:
        """What is recorded of the token."""
        return token_digest(self.token)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nothing of ours may show."""
        headers = () if self.door is None else self.door.headers.values()
        return (self.token, self.instrument.key, *headers)

    def unsound(self, cwd: str) -> str | None:
        """Why the hooks can't be relied on, after the very command was tried; None when they can.

        Waits for the programs that it starts.
        """
        if self.installed is None:
            return None
        from barry_cli.hook.preflight import preflight

        return preflight(self.installed, self.policy, self.formats, cwd)

    def discard(self) -> None:
        """Remove the folder, and let go of the port. Idempotent."""
        if self.door is not None:
            self.door.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def arrange(
    session_id: str,
    *,
    adapter: Adapter,
    manifest: BagManifest | None,
    bound: Bound | None,
    cwd: str,
    folders: Folders,
    env: Mapping[str, str],
    program: str | None = None,
) -> Instruments:
    """Compile the policy and install the hooks. Even without a bound there is the floor.

    ``env``: the harness's environment; ``program``: its program, as it was found. Raises Refused
    for an adapter whose formats can't hold a call, and StoreProblem.
    """
    policy = compile_policy(
        bound,
        root=cwd,
        harness=adapter.id,
        tools=manifest.tools if manifest is not None else {},
        floor=floor_patterns(folders, manifest.settings if manifest is not None else ()),
    )
    formats = tuple(manifest.formats.values()) if manifest is not None else ()
    key, token, socket = new_token(), new_token(), path_of(session_id)
    folder, door = private_folder(folders.launches), None
    try:
        if wanted(adapter, env):
            door = Door.bind()
        installed = None
        if any(map(is_ruled, formats)):
            keep_bundles(PROGRAM, NOTICE_PROGRAM)
            installed = install(folder, policy, formats, listener=(socket, key, session_id))
    except BaseException:
        if door is not None:
            door.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    within = Within()
    return Instruments(
        session_id=session_id,
        folder=folder,
        policy=policy,
        formats=formats,
        installed=installed,
        token=token,
        within=within,
        door=door,
        instrument=Instrument(
            ruling=installed.ruling if installed is not None else _REFUSES,
            notice=(installed.notice if installed is not None else None) or _SILENT,
            deadline_seconds=SECONDS,
            fingerprint=installed.fingerprint if installed is not None else _mark(policy),
            socket=socket,
            key=key,
            inside=within,
            program=program,
        ),
    )


def _mark(policy: Policy) -> str:
    from barry_cli.hook.policy_file import fingerprint

    return fingerprint(dump(policy))
