"""A bag is read whole or refused with everything that is wrong about it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from barry_cli.bags.manifest import (
    FILE_NAME,
    LIMIT_BYTES,
    BagManifest,
    BagRefused,
    parse_bag,
    read_bag,
)
from barry_cli.contract.data import snapshot
from tests.conftest import AsNobody

WHOLE = """
name = "toy"

[tools.Shell]
kind = "shell"
field = "command"
[tools.Patch]
kind = "patch"
field = ["patch", "input"]
[tools.Ask]
kind = "other"

[categories]
shell = ["Shell"]
file-writes = ["Patch"]

[formats.before]
event = "PreToolUse"
kind = "before-tool"
paths = { tool = "tool_name", input = "tool_input", session = "session_id" }
[formats.before.answers.allow]
[formats.before.answers.deny]
exit = 2
stderr = "{reason}"
[formats.before.answers.ask]
stdout = { decision = "ask", reason = "{reason}" }

[traits.coding]
access = "readwrite"
namespaces = ["git"]
nativeTools = { toy = ["Shell"] }

[bounds.careful]
bash = { denyPrograms = ["git:push"] }

[[vendors]]
id = "toyvendor"
label = "Toy Vendor"
models = [{ id = "toyvendor/one", label = "One" }]

[credentials.TOY_KEY]
source = "vault"
item = "toy"
field = "key"
"""


def test_a_whole_manifest_is_read() -> None:
    manifest, problems = parse_bag(WHOLE)
    assert problems == []
    assert manifest is not None
    assert manifest.tools["Patch"].field == ("patch", "input")
    assert manifest.categories == {"shell": ("Shell",), "file-writes": ("Patch",)}
    assert manifest.formats["before"].answers["deny"].exit == 2
    assert manifest.traits["coding"].name == "coding"
    assert manifest.bounds["careful"].name == "careful"
    assert manifest.vendors[0].models[0].id == "toyvendor/one"
    assert manifest.credentials["TOY_KEY"].item == "toy"


def test_it_survives_json() -> None:
    manifest, _ = parse_bag(WHOLE)
    assert manifest is not None
    assert BagManifest.model_validate(json.loads(json.dumps(snapshot(manifest)))) == manifest


def test_every_problem_is_told_at_once() -> None:
    text = """
        nam = "toy"
        [tools.Shell]
        kind = "shel"
        [tools.Read]
        kind = "read"
        feild = "path"
        [categories]
        file-read = ["Read"]
        [formats.x]
        kind = "before-tool"
        [formats.x.answers.denied]
        [traits.a]
        name = "b"
        access = "write"
        namespaces = []
        [bounds.c]
        deniedTool = []
        [credentials.K]
        source = "env"
        item = ""
    """
    manifest, problems = parse_bag(text)
    assert manifest is None
    told = "\n".join(problems)
    for part in (
        "name is missing",
        "nam is not a known key; did you mean name?",
        "tools.Shell.kind is 'shel'",
        "did you mean shell?",
        "tools.Read.feild is not a known key; did you mean field?",
        "categories.file-read is 'file-read'",
        "did you mean file-reads?",
        "formats.x.event is missing",
        "formats.x.answers.denied is 'denied'",
        "traits.a.name is 'b': leave it out, its key is its name",
        "traits.a.access is 'write'",
        "bounds.c.deniedTool is not a known key; did you mean deniedTools?",
        "credentials.K.source is 'env'",
        "credentials.K.item must not be empty",
        "credentials.K.field is missing",
    ):
        assert part in told


def test_what_is_no_toml_says_where() -> None:
    manifest, (problem,) = parse_bag("name = toy")
    assert manifest is None
    assert "line 1" in problem


def test_deep_nesting_is_no_crash() -> None:
    manifest, (problem,) = parse_bag("x = " + "[" * 100_000)
    assert manifest is None
    assert problem.startswith("it isn't TOML")


def write(folder: Path, data: bytes) -> Path:
    (folder / FILE_NAME).write_bytes(data)
    return folder


def test_a_folder_is_read(tmp_path: Path) -> None:
    assert read_bag(write(tmp_path, WHOLE.encode())).name == "toy"
    assert read_bag(str(tmp_path)).name == "toy"


def test_each_way_not_to_be_readable_is_one_sentence(tmp_path: Path) -> None:
    def why(folder: Path) -> str:
        with pytest.raises(BagRefused) as caught:
            read_bag(folder)
        (problem,) = caught.value.problems
        assert str(folder / FILE_NAME) in caught.value.message
        assert caught.value.hint
        return problem

    assert why(tmp_path) == "it can't be read: No such file or directory"
    assert "UTF-8" in why(write(tmp_path, b'name = "\xff"'))
    assert "1 MiB" in why(write(tmp_path, b"#" * (LIMIT_BYTES + 1)))
    (tmp_path / FILE_NAME).unlink()
    os.mkfifo(tmp_path / FILE_NAME)
    assert why(tmp_path) == "it isn't a regular file"
    (tmp_path / FILE_NAME).unlink()
    (tmp_path / FILE_NAME).symlink_to(FILE_NAME)
    assert "symbolic links" in why(tmp_path)


def test_a_forbidden_file_is_one_sentence(as_nobody: AsNobody, open_folder: Path) -> None:
    path = write(open_folder, WHOLE.encode()) / FILE_NAME
    path.chmod(0)

    def work() -> tuple[bool, list[str]]:
        try:
            path.read_bytes()
        except PermissionError:
            forbidden = True
        else:
            forbidden = False
        try:
            read_bag(open_folder)
        except BagRefused as refused:
            return forbidden, refused.problems
        return forbidden, []

    assert as_nobody(work) == (True, ["it can't be read: Permission denied"])
