"""Bounds at random, for properties that all of them have."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import strategies as st

from barry_cli.policy.schema import (
    BashBound,
    Bound,
    FilesBound,
    NetworkAction,
    NetworkBound,
    NodesBound,
)


def rules(*words: str) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(st.sampled_from(words), max_size=3).map(tuple)


PATHS = [
    *("src/**", "src/a/**", "src", "*.py", "docs/*", "docs/a.md", "**/a", "/w/x/**", "/w//x/y"),
    *("~/a", "src/{a,b}/**", "?.py", "[ab].py", "../up", "x/"),
]
HOSTS = ["*", "*.a.com", "a.com", "x.a.com", "*.x.a.com", "b.org", "*.org", "A.com."]
NAMES = ["git", "git:push", "npm", "b"]

BOUNDS = st.builds(
    Bound,
    bash=st.none() | st.builds(BashBound, deny=rules(*NAMES), deny_programs=rules(*NAMES)),
    denied_access=rules(*NAMES),
    denied_tools=rules(*NAMES),
    description=st.none() | st.sampled_from(["d", "e"]),
    files=st.none() | st.builds(FilesBound, allow_only=rules(*PATHS), deny=rules(*PATHS)),
    name=st.none() | st.sampled_from(["n", "m"]),
    native_tools=st.none()
    | st.dictionaries(
        st.sampled_from(["toy", "bee"]),
        st.lists(st.sampled_from(["Zap", "Scribble"]), max_size=2).map(tuple),
        max_size=2,
    ),
    network=st.none()
    | st.builds(
        NetworkBound,
        actions=rules(*get_args(NetworkAction)),
        allow_domains=rules(*HOSTS),
        domains=rules(*HOSTS),
        enforce=st.just("sandbox"),
    )
    | st.builds(
        NetworkBound,
        actions=rules(*get_args(NetworkAction)),
        domains=rules(*HOSTS),
        enforce=st.sampled_from([None, "guard"]),
    ),
    nodes=st.none() | st.builds(NodesBound, allow=rules("local", "far"), deny=rules("far", "x")),
)
