"""Records the golden streams anew: ``python -m tests.record [--accept] [ID…]`` (``make record``).

A harness's recordings are in ``tests/recordings/<id>.py``: ``record(recorder)`` runs turns on the
real program and names each. A stream that means other kinds of events than the one before it is
shown, and kept apart unless ``--accept`` says that it was looked at.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "real")]

from harness import Lab  # noqa: E402 - needs the path above

from tests.streams import FOLDER, Stream, kinds_of, read_stream, replay, scrub  # noqa: E402


class Recorder:
    """Takes streams of one harness, whose Lab it has."""

    def __init__(self, harness: str, lab: Lab, *, accept: bool) -> None:
        self.harness = harness
        self.lab = lab
        self.accept = accept
        self.changed: list[str] = []

    def keep(
        self,
        case: str,
        lines: Sequence[str],
        argv: Sequence[str],
        events: Any,
        dialogue: Any = None,
        answer: Any = None,
    ) -> None:
        """Write one case: the lines of one process and the command line that it was started with.

        ``events``, ``dialogue`` and ``answer`` as for ``tests.streams.replay``.
        """
        home = os.environ.get("HOME", "")
        places = {
            str(self.lab.work): "/w",
            str(self.lab.home): "/home",
            str(self.lab.top): "/top",
            str(ROOT): "/barry",
            **({home: "/home"} if home not in ("", "/") else {}),
            self.lab.key: "KEY",
        }
        clean = tuple(scrub(line, places) for line in lines)
        kinds = kinds_of(replay(clean, events, dialogue, answer)[0])
        words = tuple(scrub(word, places) for word in [Path(argv[0]).name, *argv[1:]])
        version = self.lab.adapter.requirements.binary.pin.version
        path = FOLDER / self.harness / f"{case}.jsonl"
        before = read_stream(path).kinds if path.exists() else kinds
        if before != kinds and not self.accept:
            self.changed.append(case)
            print(f"{self.harness}/{case}: {' '.join(before)}\n  is now: {' '.join(kinds)}")
            path = path.with_suffix(".new")
        else:
            print(f"{self.harness}/{case}: {len(clean)} lines, {' '.join(kinds)}")
        Stream(version, words, kinds, clean).write(path)


async def main(words: Sequence[str]) -> int:
    accept = "--accept" in words
    chosen = [word for word in words if not word.startswith("-")]
    found = sorted(path.stem for path in (ROOT / "tests" / "recordings").glob("[a-z]*.py"))
    if unknown := set(chosen) - set(found):
        print(f"no recordings of {', '.join(sorted(unknown))}; there are {', '.join(found)}")
        return 2
    changed = []
    cache = ROOT / ".harnesses" / "tmp"
    cache.mkdir(parents=True, exist_ok=True)
    for harness in chosen or found:
        top = Path(tempfile.mkdtemp(prefix=f"{harness}-", dir=cache))
        os.environ["BARRY_HOME"] = str(top / "barry")
        lab = Lab(harness, top)
        recorder = Recorder(harness, lab, accept=accept)
        try:
            await importlib.import_module(f"tests.recordings.{harness}").record(recorder)
        finally:
            lab.close()
            shutil.rmtree(top, ignore_errors=True)
        changed += [f"{harness}/{case}" for case in recorder.changed]
    if changed:
        print(f"other events than before: {', '.join(changed)}; --accept takes them")
    return 1 if changed else 0


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main(sys.argv[1:])))
