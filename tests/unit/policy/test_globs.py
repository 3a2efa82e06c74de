"""What two patterns share is just what both match, asked of the matcher that rules on files."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.policy import globs, hosts
from barry_cli.policy.ruling.domains import compile_domains, domain_rule
from barry_cli.policy.ruling.patterns import compile_allow, matches

NAME = st.sampled_from(
    ["a", "b", "ab", "*", "**", "a*", "*b", "*a*", "?", "a?", "{a,b}", "[ab]", "c.d", "\\a", "*?"]
)
START = st.sampled_from(["", "", "", "./", "/p//", "/p/a//", "/p/", "~/"])
PATTERN = st.builds(
    lambda start, names, end: start + "/".join(names) + end,
    START,
    st.lists(NAME, min_size=1, max_size=3),
    st.sampled_from(["", "", "/**"]),
)
PATTERNS = st.lists(PATTERN, min_size=1, max_size=3)

_WORDS = ["a", "b", "ab", "ba", "c.d"]
_WAYS = [way for length in (1, 2, 3) for way in itertools.product(_WORDS, repeat=length)]
PATHS = [("p",), ("h",), *(("p", *way) for way in _WAYS), *(("h", *way) for way in _WAYS[:30])]
PATHS += _WAYS[:30]


def allowed(patterns: list[str]) -> set[tuple[str, ...]]:
    compiled = [each for text in patterns for each in compile_allow(text, "/p", "/h")]
    return {path for path in PATHS if any(matches(each[1], path) for each in compiled)}


@given(PATTERNS, PATTERNS)
def test_what_two_lists_share_is_what_both_allow(one: list[str], other: list[str]) -> None:
    shared, lost = globs.meet(one, other)
    assert allowed(shared) <= allowed(one) & allowed(other)
    if not lost:
        assert allowed(shared) == allowed(one) & allowed(other)
    assert globs.meet(other, one)[0] == shared
    assert globs.meet(shared, shared)[0] == shared


@given(PATTERNS, PATTERNS, PATTERNS)
def test_the_grouping_does_not_matter(one: list[str], two: list[str], three: list[str]) -> None:
    left = globs.meet(globs.meet(one, two)[0], three)[0]
    assert left == globs.meet(one, globs.meet(two, three)[0])[0]


@given(PATTERNS)
def test_the_smallest_list_allows_the_same(patterns: list[str]) -> None:
    smallest = globs.smallest(patterns)
    assert allowed(smallest) == allowed(patterns)
    assert globs.smallest(smallest) == smallest


@given(PATTERN, PATTERN)
def test_covering_is_seen_by_the_matcher(wide: str, narrow: str) -> None:
    (*wides,), (*narrows,) = globs.read_globs(wide), globs.read_globs(narrow)
    if all(any(globs.covers(each, other) for each in wides) for other in narrows):
        assert allowed([narrow]) <= allowed([wide])


@given(st.lists(st.text("ab*?/.~{},[]\\", max_size=8), max_size=3))
def test_every_text_is_a_pattern(patterns: list[str]) -> None:
    shared, _ = globs.meet(patterns, patterns)
    assert allowed(shared) <= allowed(patterns)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("src/**", "src/a/**", "src/a/**"),
        ("src/**", "src/app.py", "src/app.py"),
        ("src/**", "*.py", "src/**/*.py"),
        ("src", "src/**", "src/**"),
        ("*a*", "*b*", "*a*b* *b*a*"),
        ("docs/*.md", "docs/a.md", "docs/\\a.md"),
        ("a", "b", "**/a/**/b **/b/**/a"),
        ("/w//src/**", "/w/src//a/**", "/w//src/a/**"),
        ("{a,b}/**", "a/x", "a/x"),
        ("src/**", "docs/**", ""),
        ("**", "x?", "x?"),
        ("**", "**/**", "**"),
        ("/", "/a", "/a"),
        ("~", "~/.cache/**", "~/.cache/**"),
        ("./~/x", "**", "./~/x"),
        (".", "x", "x"),
    ],
)
def test_overlaps_are_said_plainly(one: str, other: str, shared: str) -> None:
    assert globs.meet([one], [other]) == (shared.split(), [])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("src/**", "/w/**"), ("~/x", "/h/x"), ("../x", "x"), ("[ab]c", "a*"), ("x/", "x/**")),
        ("*a*b*c*d*e*", "*f*g*h*i*j*"),
        ("/".join(["**", "a"] * 15), "/".join(["**", "b"] * 15)),
        ("*".join("abc" * 40), "*".join("cba" * 40)),
    ],
)
def test_what_cannot_be_said_is_left_out_and_told(one: str, other: str) -> None:
    assert globs.meet([one], [other]) == ([], [(one, other)])


def test_a_pattern_that_is_not_looked_into_equals_itself() -> None:
    assert globs.meet(["../x", "x/"], ["../x", "y"])[0] == ["../x"]


HOST = st.sampled_from(
    "* *.a.com a.com x.a.com *.x.a.com *.org a*.com *a.com x.* A.com. *.com 1.2.3.4 *b* b.org "
    "?.org".split()
)
NAMES = [".".join(way) for n in (1, 2, 3) for way in itertools.product(["a", "x", "com"], repeat=n)]
NAMES += ["b.org", "y.x.a.com", "1.2.3.4", "ab.com", "xa.com"]


def reached(patterns: list[str]) -> set[str]:
    compiled = compile_domains(patterns)
    return {name for name in NAMES if domain_rule(name, compiled)}


@given(st.lists(HOST, max_size=3), st.lists(HOST, max_size=3), st.lists(HOST, max_size=3))
def test_hosts_that_both_lists_allow(one: list[str], two: list[str], three: list[str]) -> None:
    shared, lost = hosts.meet(one, two)
    assert reached(shared) <= reached(one) & reached(two)
    assert lost or reached(shared) == reached(one) & reached(two)
    assert hosts.meet(two, one)[0] == shared
    assert hosts.meet(shared, three)[0] == hosts.meet(one, hosts.meet(two, three)[0])[0]
    assert reached(hosts.smallest(one)) == reached(one)
