"""Plans are only plans; what carries them out writes into one private folder, and whole files."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from barry_cli.base.local_executor import LocalExecutor
from barry_cli.base.paths import folders
from barry_cli.contract.plan import Command
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.harness import CliHarness
from barry_cli.headless.placing import merge_json, place
from barry_cli.headless.plans import (
    AgentConfiguration,
    CredentialPlan,
    GeneratedFile,
    HostFile,
    MergedFile,
    relative_path,
)
from barry_cli.headless.surroundings import environment, refuse_clashes, refuse_secrets_in
from barry_cli.headless.variables import Grant, Variables
from tests.conftest import AsNobody
from tests.unit.headless.toy_agent import agent, read, session

FILES = AgentConfiguration(
    files=(
        GeneratedFile(path="deep/er/policy.toml", text="deny = true\n"),
        MergedFile(path="settings.json", entries={"a": 1}, section="env"),
        MergedFile(path="settings.json", entries={"top": True}),
    )
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def launches() -> list[Path]:
    where = folders().launches
    return list(where.iterdir()) if where.is_dir() else []


@pytest.mark.parametrize("path", ["", ".", "..", "/etc/x", "a//b", "a/../b", "./a", "a/", "a\0b"])
def test_a_path_that_is_not_inside_is_refused(path: str) -> None:
    for make in (
        lambda: relative_path(path),
        lambda: GeneratedFile(path=path, text=""),
        lambda: MergedFile(path=path, entries={}),
        lambda: HostFile(source="~/x", path=path),
    ):
        with pytest.raises(AgentFault) as caught:
            make()
        assert caught.value.code == "configuration"


@given(st.lists(st.sampled_from(["a", "b.c", "..d", "e..", "-f", " "]), min_size=1))
def test_a_path_that_is_inside_stays_as_it_is(parts: list[str]) -> None:
    assert relative_path("/".join(parts)) == "/".join(parts)


def test_a_configuration_is_private_and_goes_again() -> None:
    placed = place(None, FILES, local=True, user_home=None)
    assert placed.home is not None
    policy, settings = placed.home / "deep/er/policy.toml", placed.home / "settings.json"
    assert policy.read_text() == "deny = true\n"
    assert json.loads(settings.read_text()) == {"env": {"a": 1}, "top": True}
    assert [mode(each) for each in (policy, settings)] == [0o600, 0o600]
    assert {mode(each) for each in (placed.home, policy.parent, policy.parent.parent)} == {0o700}
    assert sorted(os.listdir(placed.home)) == ["deep", "settings.json"]  # nothing temporary
    placed.remove()
    placed.remove()
    assert not placed.home.exists()


def test_nothing_planned_is_nothing_made() -> None:
    placed = place(CredentialPlan(variables={"A": "1"}), None, local=True, user_home=None)
    assert (placed.home, placed.variables) == (None, {"A": "1"})
    assert "1" not in repr(placed)
    assert launches() == []


def test_a_file_is_made_once() -> None:
    twice = AgentConfiguration(files=(GeneratedFile(path="a", text=""),) * 2)
    with pytest.raises(AgentFault, match="twice"):
        place(None, twice, local=True, user_home=None)
    assert launches() == []


def test_what_fails_leaves_nothing_behind(home: Path) -> None:
    (home / "broken").write_text("[1]")
    plan = AgentConfiguration(
        host=(HostFile(source="~/broken", path="settings.json"),), files=FILES.files
    )
    with pytest.raises(AgentFault, match="no JSON object"):
        place(None, plan, local=False, user_home=str(home))
    assert launches() == []


def test_the_users_files_are_copied_only_elsewhere(home: Path) -> None:
    (home / "key").write_text("token abc\n")
    plan = CredentialPlan(
        variables={"B": "2"},
        host=(
            HostFile(source="~/key", path="auth/key"),
            HostFile(source=str(home / "key"), variable="TOKEN",
                     select=lambda text: text.split()[1]),
            HostFile(source="~/none", path="none", optional=True),
        ),
        files=(GeneratedFile(path="made", text="x"),),
    )  # fmt: skip
    here = place(plan, None, local=True, user_home=str(home))
    assert (here.home, here.variables) == (None, {"B": "2"})
    there = place(plan, None, local=False, user_home=str(home))
    assert there.home is not None
    assert there.variables == {"B": "2", "TOKEN": "abc"}
    assert (there.home / "auth/key").read_text() == "token abc\n"
    assert mode(there.home / "auth/key") == 0o600
    assert (home / "key").read_text() == "token abc\n"
    there.remove()


def _select(text: str) -> str:
    raise ValueError(f"{text} holds no token")


@pytest.mark.parametrize(
    ("copy", "says"),
    [
        (HostFile(source="~/none", path="x", alternative="log in"), "No such file"),
        (HostFile(source="~/key", path="x", select=_select), "not as expected"),
        (HostFile(source="~/key", path="x", select=_select, optional=True), "not as expected"),
        (HostFile(source="~", path="x"), "~ is needed"),
    ],
)
def test_a_file_that_cannot_be_used(home: Path, copy: HostFile, says: str) -> None:
    (home / "key").write_text("sk-very-secret")
    with pytest.raises(AgentFault, match=says) as caught:
        place(CredentialPlan(host=(copy,)), None, local=False, user_home=str(home))
    assert "very-secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.hint


def test_a_copy_has_one_destination() -> None:
    for more in ({}, {"path": "a", "variable": "B"}):
        with pytest.raises(AgentFault, match="one destination"):
            HostFile(source="~/x", **more)


# --- merging ---

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)


@given(before=OBJECTS, entries=OBJECTS, section=st.none() | st.just("s"))
def test_a_merge_is_one_level_deep(
    tmp_path_factory: pytest.TempPathFactory, before: Any, entries: Any, section: str | None
) -> None:
    path = tmp_path_factory.mktemp("m") / "f.json"
    document = before if section is None else {**before, "s": before}
    path.write_text(json.dumps(document))
    merge_json(path, entries, section)
    expected = {**before, **entries}
    after = json.loads(path.read_text())
    assert after == (expected if section is None else {**before, "s": expected})


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"s": 1}', "\xff"])
def test_what_is_no_object_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(AgentFault) as caught:
        merge_json(path, {"a": 1}, "s")
    assert caught.value.code == "configuration"
    assert path.read_bytes() == text.encode("latin-1")
    assert os.listdir(tmp_path) == ["f.json"]


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o644, 0o400])
def test_a_files_mode_stays(tmp_path: Path, bits: int) -> None:
    path = tmp_path / "f.json"
    path.write_text("{}")
    path.chmod(bits)
    before = os.umask(0o077)
    try:
        merge_json(path, {"a": 1}, None)
    finally:
        os.umask(before)
    assert mode(path) == bits


def test_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text('{"b": 2}')
    link.symlink_to(real)
    merge_json(link, {"a": 1}, None)
    assert link.is_symlink()
    assert json.loads(real.read_text()) == {"a": 1, "b": 2}


def test_a_file_that_may_not_be_read_is_left(as_nobody: AsNobody, open_folder: Path) -> None:
    def work() -> str:
        path = open_folder / "f.json"
        path.write_text("{}")
        path.chmod(0)
        try:
            path.read_text()
        except PermissionError:
            pass
        else:
            return "it can be read"
        try:
            merge_json(path, {"a": 1}, None)
        except AgentFault as fault:
            return str(fault)
        return "merged"

    assert "can't be given the agent's settings" in as_nobody(work)


# --- variables ---


def test_without_a_grant_they_are_the_hosts() -> None:
    variables = Variables({"A": "1", "B": None, "C": ""})
    assert (dict(variables), variables.get("B"), "C" in variables) == ({"A": "1"}, None, False)
    with pytest.raises(AgentFault, match="needs B, and it is not set") as caught:
        variables["B"]
    assert caught.value.code == "configuration"


LONG_AGO, SOON = datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC) + timedelta(days=1)


def test_with_a_grant_they_are_the_granted_alone() -> None:
    variables = Variables(
        {"A": "host-a", "B": "host-b", "D": "host-d"},
        [
            Grant(variable="A", value=SecretStr("granted-a"), expires_at=SOON),
            Grant(variable="D"),
            Grant(variable="X", value=SecretStr("x"), expires_at=LONG_AGO),
            Grant(variable="Y", rejected=True),
        ],
    )
    assert variables["A"] == "granted-a"
    assert variables["D"] == "host-d"
    assert variables.get("B") is None
    assert sorted(variables) == ["A", "D", "X", "Y"]
    for name, says in (("X", "expired"), ("Y", "rejected")):
        for ask in (variables.__getitem__, variables.get, variables.__contains__):
            with pytest.raises(AgentFault, match=says):
                ask(name)
    assert "granted-a" not in repr(variables)
    assert "granted-a" not in str(variables)


def test_an_expired_grant_is_never_the_hosts_value() -> None:
    variables = Variables({"A": "host-a"}, [Grant(variable="A", expires_at=LONG_AGO)])
    with pytest.raises(AgentFault, match="not used instead"):
        variables["A"]


def test_a_grant_is_given_once() -> None:
    with pytest.raises(AgentFault, match="A is granted twice"):
        Variables({}, [Grant(variable="A"), Grant(variable="A")])


def test_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    grants = [Grant(variable="A", keyring=("service", "user"))]
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(AgentFault, match="keyring is not installed"):
        Variables({"A": "host"}, grants)["A"]
    kept = {("service", "user"): "from the ring"}
    ring = SimpleNamespace(get_password=lambda service, user: kept.get((service, user)))
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert Variables({"A": "host"}, grants)["A"] == "from the ring"
    kept.clear()
    with pytest.raises(AgentFault, match="not in the keyring"):
        Variables({"A": "host"}, grants)["A"]

    def locked(service: str, user: str) -> str:
        raise RuntimeError("sk-very-secret")

    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=locked))
    with pytest.raises(AgentFault, match="RuntimeError") as caught:
        Variables({}, grants)["A"]
    assert "very-secret" not in str(caught.value)


# --- surroundings ---


def test_later_layers_win_and_none_takes_out() -> None:
    merged = environment({"A": "1", "B": "1", "C": None}, {"B": "2", "D": "4"}, {"A": None})
    assert merged == {"B": "2", "D": "4"}


def test_two_owners_of_one_name() -> None:
    refuse_clashes(("one", ["A"]), ("two", ["B"]))
    with pytest.raises(AgentFault, match="A is set by one and by two"):
        refuse_clashes(("one", ["A"]), ("two", ["A"]))


def test_a_secret_is_no_argument() -> None:
    refuse_secrets_in(["x", "--key", "short"], ["short"], "toy")
    with pytest.raises(AgentFault) as caught:
        refuse_secrets_in(["x", "--key=long-enough"], ["long-enough"], "toy")
    assert "long-enough" not in str(caught.value)


async def test_a_session_puts_them_in_place_and_takes_them_away(tmp_path: Path) -> None:
    script = "say(text=' '.join([os.environ['TOKEN'], open(given[0]).read()])); say(done={})"
    adapter = agent(
        tmp_path,
        script,
        request=lambda asked: Command(
            command="python3",
            args=("-I", "-S", str(tmp_path / "agent.py"), f"{asked.home}/deep/er/policy.toml"),
        ),
        credentials=lambda variables: CredentialPlan(variables={"TOKEN": variables["FROM"]}),
        configuration=lambda variables: FILES,
    )
    harness = CliHarness(adapter)
    await harness.start_session(session(env={"FROM": "granted-value"}))
    (home,) = launches()
    await read(harness.run_turn("x"))
    assert harness.last_turn is not None
    assert harness.last_turn.text == "granted-value deny = true\n"
    await harness.close()
    assert not home.exists()
    harness = CliHarness(adapter)
    with pytest.raises(AgentFault, match="needs FROM"):
        await harness.start_session(session())
    assert launches() == []


@pytest.mark.parametrize(
    ("features", "executor", "says"),
    [
        ({"variables": {"A": "1"}}, {"A": "2"}, "A is set by the adapter of toy and by the place"),
        (
            {
                "variables": {"A": "1"},
                "credentials": lambda variables: CredentialPlan(variables={"A": "2"}),
            },
            {},
            "A is set by the adapter of toy and by its credentials",
        ),
    ],
)
async def test_a_name_that_is_also_set_elsewhere(
    tmp_path: Path, features: Any, executor: Any, says: str
) -> None:
    harness = CliHarness(agent(tmp_path, "", **features))
    with pytest.raises(AgentFault, match=says) as caught:
        await harness.start_session(session(executor=LocalExecutor(variables=executor)))
    assert caught.value.code == "configuration"


async def test_what_cannot_be_asked_for_is_refused_at_the_start(tmp_path: Path) -> None:
    def request(asked: Any) -> Command:
        raise AgentFault("configuration", "it has no such model")

    harness = CliHarness(agent(tmp_path, "", request=request, configuration=lambda given: FILES))
    with pytest.raises(AgentFault, match="no such model"):
        await harness.start_session(session())
    assert launches() == []
    leaky = CliHarness(
        agent(tmp_path, "", request=lambda asked: Command(command="x", args=("sk-very-secret",)))
    )
    with pytest.raises(AgentFault, match="holds a secret"):
        await leaky.start_session(session(env={"TOY_KEY": "sk-very-secret"}))
