"""Conversations taken along: whole, private, and at home in their new place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.headless.conversations import Place, StoredConversation
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.file_conversations import _moved
from tests.unit.headless.test_conversations import store

LINES = """\
{"cwd": "/work", "text": "in /work and /workshop, /work/a.py:3, (/work) file:///work/x /home/work"}
{"/work/key": ["/work", 5, null, {"deep": "/work/b"}]}
no json in /work sk-very-secret
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_there_and_back(tmp_path: Path) -> None:
    kept = store(tmp_path / "native")
    here = Place(cwd="/work", root="/host/repo", secrets=("sk-very-secret",))
    native = kept.where("c1", here)
    write(native, LINES)
    record = kept.capture("c1", here, tmp_path / "kept")
    copy = Path(record.path)
    assert (copy.stat().st_mode & 0o777, copy.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    first, second, third, last = copy.read_text().split("\n")
    assert json.loads(first) == {
        "cwd": "/host/repo",
        "text": "in /host/repo and /workshop, /host/repo/a.py:3, (/host/repo) "
        "file:///work/x /home/work",
    }
    assert json.loads(second) == {
        "/host/repo/key": ["/host/repo", 5, None, {"deep": "/host/repo/b"}]
    }
    assert (third, last) == ("no json in /work ********", "")
    there = Place(cwd="/elsewhere")
    path = kept.restore(record, there)
    assert path == kept.where("c1", there)
    assert '"cwd": "/elsewhere"' in path.read_text()
    assert kept.locate("c1", there) == path


def test_what_is_there_already_is_left(tmp_path: Path) -> None:
    kept = store(tmp_path / "native")
    here = Place(cwd="/work")
    native = kept.where("c1", here)
    write(native, "{}\n")
    record = kept.capture("c1", here, tmp_path / "kept")
    native.write_text('{"newer": 1}\n')
    assert kept.restore(record, here) == native
    assert native.read_text() == '{"newer": 1}\n'


def test_what_cannot_be_restored(tmp_path: Path) -> None:
    kept = store(tmp_path)
    with pytest.raises(AgentFault, match="kept by other"):
        kept.restore(StoredConversation(store="other", id="c", root="/", path="/x"), Place(cwd="/"))
    with pytest.raises(AgentFault, match="conversation_lost") as caught:
        kept.restore(
            StoredConversation(store="toy", id="c", root="/", path=str(tmp_path / "x")),
            Place(cwd="/"),
        )
    assert caught.value.code == "session"
    with pytest.raises(AgentFault, match="no transcript"):
        kept.capture("c", Place(cwd="/"), tmp_path)
    with pytest.raises(AgentFault):
        kept.locate("../c", Place(cwd="/"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='/worka -."\\é', max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(lines=st.lists(VALUES, max_size=4))
def test_a_move_there_and_back_changes_nothing(lines: list[Any]) -> None:
    text = "\n".join(json.dumps(line) for line in lines)
    there = _moved(text, "/work", "/a/b c", ())
    back = _moved(there, "/a/b c", "/work", ())
    found = [json.loads(line) for line in back.split("\n") if line]
    assert found == (lines if text else [])


def test_bytes_that_are_no_text_stay(tmp_path: Path) -> None:
    kept = store(tmp_path / "native")
    here = Place(cwd="/work", root="/other")
    native = kept.where("c1", here)
    native.parent.mkdir(parents=True)
    native.write_bytes(b'{"a": "/work"}\n\xff\xfe /work\n')
    record = kept.capture("c1", here, tmp_path / "kept")
    assert Path(record.path).read_bytes() == b'{"a": "/other"}\n\xff\xfe /work\n'
