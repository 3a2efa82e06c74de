"""What a harness gets to see of the caller's environment."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.groundwork.environment import ALWAYS, apply, cut
from tests.toy import Barry

# As of somebody who works in a session of one harness, with keys for others.
CROWDED = {
    "ANTHROPIC_API_KEY": "made-up-anthropic",
    "OPENAI_API_KEY": "made-up-openai",
    "AWS_SECRET_ACCESS_KEY": "made-up-aws",
    "LD_PRELOAD": "",
    "PYTHONPATH": "/nowhere",
    "CLAUDECODE": "1",
    "TOY_SESSION": "outer",
    "TOY_INNER_DEPTH": "3",
    "TOY_UNSET": "left over",
    "TOY_KEY": "made-up-toy-key",
    "LC_ALL": "C.UTF-8",
    "https_proxy": "http://127.0.0.1:9",
    "MINE": "mine",
}


def test_only_what_may_pass_passes(barry: Barry) -> None:
    child = barry.launch(env=CROWDED)
    env = barry.started()["env"]
    child.sendline("quit")
    barry.ended(child)
    assert env == {
        **{name: barry.env[name] for name in ("HOME", "LANG", "PATH", "TERM", "TOY_NOTE")},
        **{name: CROWDED[name] for name in ("TOY_KEY", "LC_ALL", "https_proxy")},
        "PWD": str(barry.work),
    }


def test_the_plan_names_what_it_keeps_and_drops_and_shows_no_value(barry: Barry) -> None:
    done = barry.run("session", "launch", "toy", "--dry-run", "--json", env=CROWDED)
    environment = done.json["plan"]["environment"]
    assert environment["dropped"] == sorted(
        {*CROWDED, "BARRY_HOME"} - {"TOY_KEY", "LC_ALL", "https_proxy"}
    )
    assert set(environment["kept"].values()) == {"********"}
    text = barry.run("session", "launch", "toy", "--dry-run", env=CROWDED)
    for value in (value for value in CROWDED.values() if value.startswith("made-up")):
        assert value not in done.out + done.err + text.out + text.err
    assert "dropped: ANTHROPIC_API_KEY AWS_SECRET_ACCESS_KEY" in text.out


def test_a_name_that_the_user_gives_passes(barry: Barry) -> None:
    names = ("MINE", "TOY_SESSION", "ABSENT")
    words = [word for name in names for word in ("--env", name)]
    plan = barry.run("session", "launch", "toy", "--dry-run", "--json", *words, env=CROWDED)
    assert {"MINE", "TOY_SESSION"} <= set(plan.json["plan"]["environment"]["kept"])
    assert plan.json["plan"]["warnings"] == ["--env ABSENT: there is no such variable"]


def test_names_and_patterns_of_the_settings_pass(barry: Barry) -> None:
    barry.folders.settings.parent.mkdir(parents=True)
    barry.folders.settings.write_text('[env]\npass = ["MINE", "AWS_*", "TOY_SESSION"]\n')
    plan = barry.run("session", "launch", "toy", "--dry-run", "--json", env=CROWDED)
    kept = set(plan.json["plan"]["environment"]["kept"])
    assert {"MINE", "AWS_SECRET_ACCESS_KEY"} <= kept
    assert "TOY_SESSION" not in kept  # a mark of a session goes in by name and by hand only


def test_marks_of_every_installed_harness_are_stripped(barry: Barry) -> None:
    """Also where another harness is started, and its own list would let them pass."""
    barry.install(id="other", aliases=())
    plan = barry.run("session", "launch", "other", "--dry-run", "--json", env=CROWDED)
    assert "TOY_INNER_DEPTH" in plan.json["plan"]["environment"]["dropped"]


def test_a_variable_of_no_value_stays_one(barry: Barry) -> None:
    child = barry.launch(env={"TOY_EMPTY": ""})
    assert barry.started()["env"]["TOY_EMPTY"] == ""
    child.sendline("quit")
    barry.ended(child)


NAMES = st.text("ABC_xyz*?[]1", min_size=1, max_size=6)
ENVIRONMENTS = st.dictionaries(
    st.one_of(NAMES, st.sampled_from(["HOME", "PATH", "LC_X", "KEY"])), st.text(max_size=3)
)
PATTERNS = st.lists(st.one_of(NAMES, NAMES.map(lambda name: f"{name}*")), max_size=3)


@given(base=ENVIRONMENTS, also=PATTERNS, never=PATTERNS, certainly=st.lists(NAMES, max_size=2))
def test_each_name_passes_or_is_dropped(
    base: dict[str, str], also: list[str], never: list[str], certainly: list[str]
) -> None:
    found = cut(base, also=also, never=never, certainly=certainly)
    assert {**found.values, **{name: base[name] for name in found.dropped}} == base
    assert not set(found.values) & set(found.dropped)
    assert list(found.dropped) == sorted(found.dropped)
    for name in base:
        marked = any(fnmatchcase(name, mark) for mark in never)
        listed = any(fnmatchcase(name, pattern) for pattern in (*ALWAYS, *also))
        assert (name in found.values) == (name in certainly or (listed and not marked))
    # The same without any pattern of somebody's own lets nothing more pass.
    assert set(cut(base).values) <= set(cut(base, also=also).values)


@given(
    values=st.dictionaries(NAMES, st.text(max_size=3)),
    changes=st.dictionaries(NAMES, st.none() | st.text(max_size=3)),
)
def test_changes_set_and_unset(values: dict[str, str], changes: dict[str, str | None]) -> None:
    before = dict(values)
    after = apply(values, changes)
    assert values == before
    for name in {*values, *changes}:
        wanted = changes[name] if name in changes else values[name]
        assert after.get(name) == wanted


@pytest.mark.parametrize(
    "name", ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "LD_PRELOAD", "BARRY_HOME"]
)
def test_no_key_of_anything_else_is_on_the_list(name: str) -> None:
    assert cut({name: "x"}).values == {}
