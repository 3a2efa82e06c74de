"""What is a bound and probably not what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barry_cli.policy.bound_file import read_bound_file
from barry_cli.policy.hints import hints
from barry_cli.policy.named import SHIPPED
from barry_cli.policy.schema import bound_problems, parse_bound

ROWS = [{"id": "acme", "aliases": ["old"], "nativeTools": ["Shell", "Read"]}]

SANDBOX = {"enforce": "sandbox"}

CASES: list[tuple[dict[str, Any], str]] = [
    ({}, "restricts nothing"),
    ({"files": {"deny": []}, "name": "x"}, "restricts nothing"),
    ({"network": {"enforce": "guard"}}, "denies nothing by itself"),
    ({"network": SANDBOX}, "no launch of this version has a sandbox"),
    ({"bash": {"denyPrograms": ["git push"]}}, "'git:push'"),
    ({"bash": {"denyPrograms": [":push"]}}, "names no program"),
    ({"bash": {"denyPrograms": ["gpg:--export"]}}, "options are passed over"),
    ({"bash": {"denyPrograms": [" rm"]}}, "write 'rm'"),
    ({"bash": {"denyPrograms": ["rm "]}}, "write 'rm'"),
    ({"bash": {"denyPrograms": ["git:pu*"]}}, "'git' denies all below"),
    ({"bash": {"denyPrograms": ["g*"]}}, "no patterns here"),
    ({"bash": {"denyPrograms": ["$HOME/x"]}}, "stand for themselves"),
    ({"bash": {"denyPrograms": ["~/bin/x"]}}, "stand for themselves"),
    ({"bash": {"denyPrograms": ["rm && ls"]}}, "is a command line"),
    ({"bash": {"denyPrograms": ["rm", "rm"]}}, "twice"),
    ({"bash": {"deny": ["-"]}}, "every command line with this letter"),
    ({"bash": {"deny": ["git:push"]}}, "belong into bash.denyPrograms"),
    ({"files": {"deny": ["$HOME/x"]}}, "write '~/x'"),
    ({"files": {"deny": ["${HOME}/x"]}}, "write '~/x'"),
    ({"files": {"deny": ["$PROJECT/x"]}}, "stand for themselves"),
    ({"files": {"deny": ["~ada/x"]}}, "only ~/ is a home"),
    ({"files": {"deny": ["!x"]}}, "nothing can be taken out"),
    ({"files": {"deny": ["file:///x"]}}, "is a URL"),
    ({"files": {"deny": ["{a,b"]}}, "no other half"),
    ({"files": {"deny": ["*"]}}, "denies every file"),
    ({"files": {"deny": ["**"]}}, "denies every file"),
    ({"files": {"deny": [" x"]}}, "blanks around it"),
    ({"files": {"deny": ["src"], "allowOnly": ["src/**"]}}, "no file is left"),
    ({"files": {"deny": ["*.py"], "allowOnly": ["a/*.py", "b/**"]}}, "'a/*.py' allows nothing"),
    ({"network": {"actions": ["read"]}}, "ssh connections are left"),
    ({"network": {"actions": ["dns", "dns"]}}, "twice"),
    ({"network": {"domains": ["*.a.b"]}}, "'a.b' itself is left"),
    ({"network": {"domains": ["https://a.b"]}}, "denies the whole host, write 'a.b'"),
    ({"network": {"domains": ["a.b/c"]}}, "denies the whole host, write 'a.b'"),
    ({"network": {"domains": ["u@a.b"]}}, "write 'a.b'"),
    ({"network": {"domains": ["a.b:80"]}}, "every port"),
    ({"network": {"domains": ["10.0.0.0/8"]}}, "a name that leads to one of them"),
    ({"network": {"domains": [".a.b"]}}, "write '*.a.b'"),
    ({"network": {"domains": ["*a.b"]}}, "write '*.a.b'"),
    ({"network": {"domains": ["*"]}}, "denies every host"),
    ({"network": {**SANDBOX, "allowDomains": ["a.b/c"]}}, "allows nothing, write 'a.b'"),
    ({"network": {**SANDBOX, "allowDomains": ["localhost"]}}, "allowed in any case"),
    ({"network": {**SANDBOX, "allowDomains": ["a.b"], "domains": ["a.b"]}}, "stays denied"),
    ({"deniedAccess": ["file"]}, "did you mean files?"),
    ({"deniedAccess": ["Raed"]}, "did you mean Read?"),
    ({"deniedTools": ["Shel"]}, "did you mean Shell?"),
    ({"deniedTools": ["files"]}, "is no tool"),
    ({"deniedTools": ["Shell(rm *)"]}, "no patterns here"),
    ({"nativeTools": {"acm": ["Shell"]}}, "did you mean acme?"),
    ({"nativeTools": {"acme": ["Shel"]}}, "did you mean Shell?"),
    ({"nodes": {"deny": ["far"]}}, "on 'local' alone"),
    ({"nodes": {"deny": ["local"]}}, "every launch here is refused"),
    ({"nodes": {"allow": []}}, "every launch here is refused"),
]

RIGHT: list[dict[str, Any]] = [
    {"bash": {"denyPrograms": ["git:push", "git", "gh:pr:create"], "deny": ["rm", " -f ", "a: b"]}},
    {"network": {"actions": ["read", "ssh:read"]}},
    {"network": {"actions": ["all"], "domains": ["*.a.b", "a.b", "10.0.0.1", "db"]}},
    {"files": {"deny": [".env", "~/.ssh", "a/**", "{a,b}.py"], "allowOnly": ["src/**", "x"]}},
    {"nativeTools": {"acme": ["shell"], "old": ["READ"]}},
    {"deniedTools": ["browser", "linear:delete_issue", "shell"], "deniedAccess": ["files", "git"]},
    {"nodes": {"allow": ["local"]}},
]


@pytest.mark.parametrize(("document", "part"), CASES)
def test_a_hint(document: dict[str, Any], part: str) -> None:
    said = hints(parse_bound(document), ROWS)
    assert len([each for each in said if part in each]) == 1, said
    always = ["sandbox"] * ("sandbox" in str(document))
    more = [each for each in said if part not in each and not any(w in each for w in always)]
    assert more == [] or "nodes" in document, more


@pytest.mark.parametrize("document", RIGHT)
def test_nothing_to_say(document: dict[str, Any]) -> None:
    assert hints(parse_bound(document), ROWS) == []


IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"bash": {"denyPrograms": ["  "]}}, "blank entry"),
    ({"bash": {"denyPrograms": ["rm\ngit"]}}, "several lines"),
    ({"bash": {"deny": ["a\0b"]}}, "never holds a NUL"),
    ({"files": {"deny": ["a\0b"]}}, "never holds a NUL"),
    ({"deniedTools": ["\t"]}, "blank entry"),
    ({"nativeTools": {"acme": [" "]}}, "blank entry"),
    ({"network": {"domains": ["a.b, c.d"]}}, "no host"),
    ({"network": {"domains": ["a.{b,c}"]}}, "no host"),
    ({"network": {"domains": ["a b"]}}, "no host"),
    ({"network": {"domains": ["file:///x"]}}, "no host"),
    ({"network": {**SANDBOX, "allowDomains": ["a.b?"]}}, "no host"),
]


@pytest.mark.parametrize(("document", "part"), IMPOSSIBLE)
def test_what_nothing_could_come_under_is_refused(document: dict[str, Any], part: str) -> None:
    (said,) = bound_problems(document)
    assert part in said
    with pytest.raises(ValueError, match=part):
        parse_bound(document)


def test_a_text_may_be_blank_or_several_lines() -> None:
    assert bound_problems({"bash": {"deny": ["  ", "a\nb"]}, "description": " "}) == []


def test_what_barry_ships_needs_none() -> None:
    for path in Path(SHIPPED).glob("*.toml"):
        assert hints(read_bound_file(str(path))) == [], path.name
