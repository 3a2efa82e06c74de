"""The compiled policy as a file: the same data, noticed when anything of it changes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from barry_cli.bags.manifest import ToolRow
from barry_cli.base.paths import folders
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.ruling.policy import Policy, PolicyUnreadable, dump, fingerprint, load
from barry_cli.policy.ruling.rule import rule
from barry_cli.policy.schema import parse_bound

BOUND = {
    "bash": {"deny": ["x"], "denyPrograms": ["git:push", "gh:pr:create"]},
    "files": {"deny": [".env"], "allowOnly": ["src/**"]},
    "network": {"actions": ["write"], "domains": ["*.x.test"], "enforce": "sandbox"},
    "deniedTools": ["a"],
    "deniedAccess": ["b"],
    "nativeTools": {"toy": ["Zap"]},
    "nodes": {"deny": ["elsewhere"]},
}


def made(bound: dict[str, Any] | None = BOUND, **more: Any) -> Policy:
    given: dict[str, Any] = {"root": "/p", "home": "/h", "harness": "toy", **more}
    return compile_policy(parse_bound(bound) if bound is not None else None, **given)


def plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(plain, value))
    if isinstance(value, dict):
        return all(plain(each) for pair in value.items() for each in pair)
    return value is None or isinstance(value, (str, int))


def test_what_is_loaded_is_what_was_made() -> None:
    policy = made(tools={"zap": ToolRow(kind="shell", field="line")}, floor=(".barry",))
    data = dump(policy)
    again = load(data, fingerprint(policy))
    for name in Policy.__slots__:
        value = getattr(policy, name)
        assert getattr(again, name) == value
        assert plain(value), name
    assert dump(again) == data


def test_the_same_bound_has_the_same_fingerprint() -> None:
    assert fingerprint(made()) == fingerprint(made())
    assert len(fingerprint(made())) == 32
    others = [
        made(None),
        made({**BOUND, "deniedTools": ["c"]}),
        made(root="/q"),
        made(home="/g"),
        made(harness="other"),
        made(floor=("x",)),
        made(tools={"zap": ToolRow(kind="shell")}),
    ]
    assert len({fingerprint(each) for each in [made(), *others]}) == len(others) + 1


def test_a_changed_file_is_refused() -> None:
    policy = made()
    data = dump(policy)
    for at in range(0, len(data), 7):
        changed = bytearray(data)
        changed[at] ^= 1
        with pytest.raises(PolicyUnreadable):
            load(bytes(changed))
    for short in (b"", data[:20], data[:-1], b"barry-policy 2" + data[14:]):
        with pytest.raises(PolicyUnreadable):
            load(short)


def test_another_session_s_policy_is_refused() -> None:
    with pytest.raises(PolicyUnreadable, match="isn't the one"):
        load(dump(made()), fingerprint(made(root="/q")))


def test_the_floor_of_every_policy(home: Path) -> None:
    floor = floor_patterns(folders(), ("~/.toy/settings.json",))
    policy = compile_policy(
        None, root="/p", floor=floor, tools={"w": ToolRow(kind="write", field="p")}
    )
    ours = folders()
    for path in (ours.config, ours.data, ours.state, ours.cache, ours.run):
        assert not rule(policy, "w", {"p": f"{path}/x"}, "/p").allowed
        assert not rule(policy, "w", {"p": str(path)}, "/p").allowed
    assert not rule(policy, "w", {"p": "/q/.barry/bound.toml"}, "/p").allowed
    assert not rule(policy, "w", {"p": "~/.toy/settings.json"}, "/p").allowed
    assert rule(policy, "w", {"p": str(home / "x")}, "/p").allowed


def test_a_ruling_imports_builtins_only(tmp_path: Path) -> None:
    """In a fresh interpreter: what a ruling on every kind of call needs."""
    import subprocess

    policy = made(
        {**BOUND, "nativeTools": {}},
        root=str(tmp_path),
        floor=(".barry",),
        tools={
            "zap": ToolRow(kind="shell", field="line"),
            "pen": ToolRow(kind="write", field="p"),
            "sew": ToolRow(kind="patch", field="p"),
            "see": ToolRow(kind="url", field="u"),
        },
    )
    (tmp_path / "policy").write_bytes(dump(policy))
    program = """
import sys
before = set(sys.modules)
p = sys.modules["barry_cli"] = type(sys)("barry_cli"); p.__path__ = [sys.argv[1]]
from barry_cli.policy.ruling.policy import load
from barry_cli.policy.ruling.rule import rule
policy = load(open(sys.argv[2], "rb").read())
for tool, input in [
    ("zap", {"line": "cd src && curl -d @f https://x | tee $a > b; sed -i s/a/b/ c; git push"}),
    ("zap", {"line": "python3 -c 'print(1)'; tar xf a; scp a b:c; npm publish; cat ~root/x"}),
    ("pen", {"p": "src/a"}), ("sew", {"p": "--- a/x"}), ("see", {"u": "https://a.x.test"}),
    ("mcp__x__y", {}),
]:
    rule(policy, tool, input, "/")
print(*sorted(name for name in set(sys.modules) - before if not name.startswith("barry_cli")))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(ROOT), str(tmp_path / "policy")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert set(done.stdout.split()) <= {"_blake2", "marshal", "posix", "pwd", "_socket", "sys"}


ROOT = Path(__file__).parents[4] / "barry_cli"
