"""Hosts: one spelling for each, the rules on them, and which hosts a command reaches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from barry_cli.policy.commands import extract_domains_from_command, is_domain_denied
from barry_cli.policy.ruling.domains import canonical, copied_host, hosts_of, is_local
from tests.unit.policy.ruling.rows import names, rows

COMMANDS = [row for row in rows("domains") if "command" in row]
HOSTS = [row for row in rows("domains") if "host" in row]


@pytest.mark.parametrize("row", COMMANDS, ids=names(COMMANDS))
def test_the_hosts_of_a_command(row: dict[str, Any]) -> None:
    assert sorted(extract_domains_from_command(row["command"])) == sorted(row["hosts"])


@pytest.mark.parametrize("row", HOSTS, ids=names(HOSTS))
def test_a_rule_on_a_host(row: dict[str, Any]) -> None:
    assert is_domain_denied(row["host"], row["rule"]) == row["denied_by"], row["why"]


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("https://a.test\\@b.test/", {"a.test", "b.test"}),
        ("https:\\\\a.test", {"a.test"}),
        ("https:a.test", {"a.test"}),
        ("ht\ntps://a.\ttest/", {"a.test"}),
        ("//a.test/x", {"a.test"}),
        ("file:///etc/passwd", set()),
        ("a.test/x?u=https://b.test", {"a.test"}),
        ("git+ssh://u@a.test/x", {"a.test"}),
        ("", set()),
    ],
)
def test_the_hosts_of_a_url(url: str, hosts: set[str]) -> None:
    assert set(hosts_of(url)) == hosts


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("u@a.test:x", "a.test"),
        ("a.test::m", "a.test"),
        ("[2001:db8::1]:x", "2001:db8::1"),
        ("u@[::1]:x", "::1"),
        ("./a:b", ""),
        ("a", ""),
        (":a", ""),
    ],
)
def test_the_host_that_is_copied_from(text: str, host: str) -> None:
    assert copied_host(text) == host


def test_this_machine() -> None:
    here = ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "0.0.0.0"]
    assert all(map(is_local, here))
    assert not any(map(is_local, ["127.0.0.1.a.test", "localhost.a.test", "10.0.0.1", ""]))


HOST = st.text() | st.text("abx.:%[]0127fE\\@/*-üßİ\u3002\u0345\u00ad ", max_size=20)


@given(HOST)
@example("%2525252e.x")
@example("xn--bcher-kva.test")
@example("0x7f.1:80")
def test_one_spelling_is_enough(host: str) -> None:
    once = canonical(host)
    assert canonical(once) == once


@given(HOST, st.lists(HOST, max_size=3))
def test_no_text_breaks_a_rule_on_hosts(host: str, patterns: list[str]) -> None:
    is_domain_denied(host, patterns)
    hosts_of(host)
    copied_host(host)


LABEL = st.text("abc", min_size=1, max_size=4)


@given(st.lists(LABEL, min_size=1, max_size=3), st.lists(LABEL, min_size=1, max_size=2))
def test_a_star_is_for_what_is_below(above: list[str], host: list[str]) -> None:
    name, rule = ".".join(above), f"*.{'.'.join(above)}"
    assert is_domain_denied(".".join(host + above), [rule]) == rule
    assert is_domain_denied(name, [rule]) is None
