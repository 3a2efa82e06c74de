"""Hosts in variables, in files and in the words of programs that nothing is known about."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.policy.commands import extract_domains_from_command
from barry_cli.policy.compile import compile_policy
from barry_cli.policy.ruling import clients, network, services
from barry_cli.policy.ruling.addresses import plausible
from barry_cli.policy.ruling.operands import HOLE
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.rule import rule_command
from barry_cli.policy.ruling.unsure_hosts import meets
from barry_cli.policy.schema import parse_bound
from tests.unit.policy.ruling.rows import names, rows

ROWS = rows("hosts")


def policy(row: dict[str, Any]) -> Policy:
    rules = (
        {"domains": row["domains"]}
        if "domains" in row
        else {"enforce": "sandbox", "allowDomains": row["allow"]}
    )
    return compile_policy(parse_bound({"network": rules}), root="/nowhere")


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_a_rule_on_the_hosts_of_a_command(row: dict[str, Any]) -> None:
    verdict = rule_command(policy(row), row["command"], "/nowhere")
    assert verdict.outcome == row["outcome"], verdict.human
    if verdict.outcome != "allowed":
        assert verdict.field == f"network.{'domains' if 'domains' in row else 'allowDomains'}"
        assert HOLE not in verdict.human + verdict.agent


def test_without_a_rule_on_hosts_nothing_is_denied() -> None:
    free = compile_policy(parse_bound({"bash": {"denyPrograms": ["none-such"]}}), root="/nowhere")
    for row in ROWS:
        assert rule_command(free, row["command"], "/nowhere").outcome == "allowed", row["command"]


def test_what_is_not_known_is_no_host_that_is_told() -> None:
    for row in ROWS:
        assert not any(HOLE in host for host in extract_domains_from_command(row["command"]))


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("a.test", True),
        ("api-1.b.co", True),
        ("10.0.0.1", True),
        ("foo.py", False),
        ("a.tar.gz", False),
        ("v1.2.3", False),
        ("1.2.3", False),
        ("300.1.1.1", False),
        ("x.com.txt", False),
        ("README.md", False),
        ("a..com", False),
        ("lib.so", False),
        (".com", False),
        ("com", False),
        ("", False),
    ],
)
def test_what_may_be_the_name_of_a_host(text: str, is_one: bool) -> None:
    assert plausible(text) is is_one


def test_file_names_with_dots_are_no_hosts() -> None:
    files = ["foo.py", "a.tar.gz", "v1.2.3", "x.com.txt", "a/b.test/c", "tests/x.py:12", "b.rs:3"]
    plain = [each for each in files if ":" not in each]
    for command in (f"mytool {' '.join(files)}", *(f"mytool --host {each}" for each in plain)):
        assert extract_domains_from_command(command) == [], command


def test_each_program_is_listed_where_it_is_looked_up() -> None:
    assert clients.names() | {"socat"} == network.OTHERS
    listed = {*services.SERVICES, *services.ALIASES, "gh", "aws"}
    assert listed == network.SERVICES
    assert not network.OTHERS & network.SERVICES
    assert network.CLIENTS.keys().isdisjoint(network.OTHERS | network.SERVICES)


def test_tables_are_loaded_for_their_programs_alone(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from barry_cli.policy.ruling.policy import Policy\n"
        "from barry_cli.policy.ruling.rule import rule_command\n"
        "policy = Policy()\n"
        "policy.domains = (('x.test', 'x.test'),)\n"
        "rule_command(policy, sys.argv[1], '/')\n"
        "print(*(m.rpartition('.')[2] for m in sys.modules if '.ruling.' in m))\n"
    )

    def loaded(command: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", script, command], capture_output=True, text=True, check=True
        )
        return set(done.stdout.split())

    rare = {"services", "clients", "containers", "addresses", "values", "unsure_hosts"}
    assert not loaded("curl https://y.test && git fetch && ls -l") & rare
    assert loaded("docker pull x.test/a") & rare == {"services", "containers", "addresses"}
    assert loaded("psql -h y.test") & rare == {"clients", "addresses"}
    assert loaded("curl $x") & rare == {"values", "unsure_hosts"}


LETTERS = st.text(f"ab.{HOLE}", max_size=6)


@given(LETTERS, st.text("ab.*", max_size=6))
def test_partly_known_meets_what_some_whole_one_matches(host: str, pattern: str) -> None:
    found = meets(host, pattern)
    fillings = ["", "a", "b", ".", "ab", "a.b", "b.a", "aa", "bb", ".a", "b."]
    holes = min(host.count(HOLE), 2)
    if host.count(HOLE) == holes:
        filled = [_filled(host, each) for each in itertools.product(fillings, repeat=holes)]
        if any(fnmatchcase(name, pattern) for name in filled):
            assert found
    if HOLE not in host:
        assert found is fnmatchcase(host, pattern)


def _filled(host: str, values: tuple[str, ...]) -> str:
    for value in values:
        host = host.replace(HOLE, value, 1)
    return host


WORD = st.text("ab$x=:/@.-{},[]\"'é ", max_size=12)


@given(st.sampled_from("foo socat psql docker curl nmap make python3".split()), st.lists(WORD))
def test_no_words_break_the_looking(program: str, words: list[str]) -> None:
    command = " ".join([program, *words])
    for row in ({"domains": ["*.b"]}, {"allow": ["a.b"]}):
        verdict = rule_command(policy(row), command, "/nowhere")
        assert "the ruling failed" not in verdict.human
