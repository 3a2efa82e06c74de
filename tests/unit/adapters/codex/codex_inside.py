"""A Codex of our own for tests of instrumented mode: its app server, and what hooks tell Barry."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from barry_cli.contract.instrument import HookCall, Instrument, Notice

RULING = "/py -I -S /rule /policy 12 || exit 2"
NOTICE = "/py -I -S /tell /events 34 || exit 0"

# It lists the hooks that its arguments name as Codex 0.171.0 does, keeps what is queued, and does
# as BEHAVE says: deaf (never answers), gone (ends at once), distrusts, keeps-others, lost.
_PROGRAM = """#!{python}
import hashlib, json, os, sys, time, tomllib
behave = os.environ.get("BEHAVE", "")
log = open(os.environ["ASKED"], "a")
if behave == "gone":
    sys.exit(3)
words, given = sys.argv[1:], {{}}
for flag, text in zip(words, words[1:]):
    if flag == "-c":
        key, _, value = text.partition("=")
        given[key] = tomllib.loads("it = " + value)["it"]
state = given.get("hooks.state", {{}})
def listed(source, place, event, command):
    key = place + ":" + event + ":0:0"
    mark = "sha256:" + hashlib.sha256(command.encode()).hexdigest()
    mine = state.get(key, {{}})
    trusted = mine.get("trusted_hash") == mark and behave != "distrusts"
    others = source != "sessionFlags" and behave == "keeps-others"
    return {{"key": key, "eventName": event[0].lower() + event[1:], "command": command,
            "source": source, "sourcePath": place, "currentHash": mark,
            "trustStatus": "trusted" if trusted else "untrusted",
            "enabled": True if others else mine.get("enabled", True)}}
hooks = [listed("user", "/home/of/hooks.json", "PreToolUse", "rewrites"),
         listed("user", "/home/of/hooks.json", "Stop", "tells")]
hooks += [listed("sessionFlags", "/<session-flags>/config.toml", key.removeprefix("hooks."),
                 rows[0]["hooks"][0]["command"])
          for key, rows in given.items() if key.startswith("hooks.") and key != "hooks.state"]
for line in sys.stdin:
    asked = json.loads(line)
    log.write(json.dumps([words, asked]) + "\\n")
    log.flush()
    if behave == "deaf":
        time.sleep(60)
    if asked["method"] == "thread/queue/add" and behave == "lost":
        sys.exit(1)
    print('{{"method": "a/notification"}}')
    print("no JSON")
    answer = {{"result": {{}}}}
    if asked["method"] == "hooks/list":
        answer = {{"result": {{"data": [{{"cwd": asked["params"]["cwds"][0], "hooks": hooks}}]}}}}
        if behave == "empty":
            answer = {{"result": {{"data": []}}}}
    if asked["method"] == "thread/queue/add" and behave == "refuses":
        answer = {{"error": {{"code": -32603, "message": "no rollout found"}}}}
    print(json.dumps({{"id": asked["id"], **answer}}), flush=True)
"""


def program(folder: Path) -> Path:
    """The program; it notes what it is asked in ``folder/asked``."""
    path = folder / "codex"
    path.write_text(_PROGRAM.format(python=sys.executable))
    path.chmod(0o755)
    return path


class Inside:
    """Barry's end of a session; ``asking`` are the hooks that wait for a text."""

    def __init__(self) -> None:
        self.asking: list[Notice] = []
        self.handed: list[str] = []
        self.told: list[Notice] = []

    async def notices(self) -> AsyncIterator[Notice]:
        for notice in self.told:
            yield notice

    async def hand(self, text: str, *, fits: Callable[[Notice], bool] | None = None) -> bool:
        for notice in self.asking:
            if fits is None or fits(notice):
                self.handed.append(text)
                return True
        return False

    async def ask(self, frame: Mapping[str, object], *, seconds: float = 5) -> Any:
        return None


def instrument(inside: Inside, codex: Path | None) -> Instrument:
    """What a launch would give."""
    return Instrument(
        ruling=HookCall(command=RULING, words=("/py",)),
        notice=HookCall(command=NOTICE, words=("/py",)),
        deadline_seconds=20,
        fingerprint="12",
        socket="/run/x.sock",
        key="a-key-of-the-hooks",
        inside=inside,
        program=None if codex is None else str(codex),
    )
