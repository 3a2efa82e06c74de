"""Which bounds apply in a folder, and what becomes of one that can't be read."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.paths import Folders, folders
from barry_cli.base.problems import BarryError, StoreProblem
from barry_cli.policy.bound_file import BoundNotFound, BoundRefused, read_bound_file
from barry_cli.policy.lookup import Effective, effective_bound, in_place, rules_of
from barry_cli.policy.problems import PolicyProblem
from barry_cli.policy.schema import Bound, parse_bound
from tests.conftest import AsNobody

Rows = list[dict[str, Any]]


@pytest.fixture
def place(home: Path) -> Folders:
    """The folders of this test, with the user's own bounds in them."""
    found = folders()
    found.bounds.mkdir(parents=True)
    return found


@pytest.fixture
def project(home: Path) -> Path:
    """``a/b/c``, from whose end a session starts."""
    deepest = home / "a" / "b" / "c"
    deepest.mkdir(parents=True)
    return deepest


def bag(id: str, **tables: Any) -> dict[str, Any]:
    return {"id": id, "aliases": [f"old-{id}"], "bag": {"manifest": {"name": id, **tables}}}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def denying(*programs: str) -> str:
    return f"[bash]\ndenyPrograms = {json.dumps(programs)}\n"


def programs(found: Effective) -> tuple[str, ...]:
    assert found.bound is not None
    assert found.bound.bash is not None
    return found.bound.bash.deny_programs or ()


def test_nothing_applies(place: Folders, project: Path) -> None:
    found = effective_bound(place, [], str(project))
    assert (found.sources, found.bound, found.traits) == ((), None, ())


def test_all_of_them_hold_together(place: Folders, project: Path, home: Path) -> None:
    write(place.settings, '[bounds]\nalways = ["mine"]\n')
    write(place.bounds / "mine.toml", denying("one"))
    write(home / "a" / ".barry" / "bound.toml", denying("two"))
    write(project / ".barry" / "bound.toml", denying("three"))
    asked = write(home / "elsewhere" / "x.json", json.dumps({"bash": {"denyPrograms": ["four"]}}))
    rows = [bag("acme", bounds={"five": {"name": "five", "bash": {"denyPrograms": ["five"]}}})]
    found = effective_bound(place, rows, str(project), asked=[str(asked), "five", "no-push"])
    assert {"one", "two", "three", "four", "five", "git:push"} <= set(programs(found))
    assert [source.why for source in found.sources] == [
        "always", "project", "project", "asked", "asked", "asked"
    ]  # fmt: skip
    assert [source.label for source in found.sources][1:3] == [
        "~/a/b/c/.barry/bound.toml", "~/a/.barry/bound.toml"
    ]  # fmt: skip
    assert found.said_by("bash.denyPrograms", "two") == [(found.sources[2], "two")]


def test_every_place_that_decided_is_named(place: Folders, project: Path) -> None:
    write(place.bounds / "mine.toml", denying("one"))
    found = effective_bound(place, [], str(project), asked=["mine", "no-push"])
    assert {
        str(place.settings),
        str(place.registry),
        str(project / ".barry" / "bound.toml"),
        str(project.parent / ".barry" / "bound.toml"),
        "/.barry/bound.toml",
        str(place.bounds / "mine.toml"),
        str(place.bounds / "no-push.toml"),  # which would be taken instead, once it is there
        found.sources[1].place,
    } <= set(found.looked_at)


def test_a_folder_behind_a_link_has_two_rows_of_parents(
    place: Folders, project: Path, home: Path
) -> None:
    write(home / "a" / ".barry" / "bound.toml", denying("real"))
    write(home / "links" / ".barry" / "bound.toml", denying("lexical"))
    (home / "links" / "c").symlink_to(project)
    found = effective_bound(place, [], str(home / "links" / "c"))
    assert programs(found) == ("lexical", "real")


def test_one_file_by_two_ways_is_one(place: Folders, project: Path, home: Path) -> None:
    write(home / "a" / ".barry" / "bound.toml", denying("one"))
    (home / "b").symlink_to(home / "a")
    found = effective_bound(place, [], str(home / "b" / "b" / "c"))
    assert len(found.sources) == 1


def test_patterns_of_a_project_start_at_its_folder(
    place: Folders, project: Path, home: Path
) -> None:
    top = home / "a"
    write(
        top / ".barry" / "bound.toml",
        '[files]\ndeny = ["keys/*.pem", ".env", "/etc/x", "~/y"]\nallowOnly = ["src/**", "*.md"]\n',
    )
    found = effective_bound(place, [], str(project))
    assert found.bound is not None
    assert found.bound.files is not None
    assert set(found.bound.files.deny or ()) == {f"{top}//keys/*.pem", ".env", "/etc/x", "~/y"}
    assert set(found.bound.files.allow_only or ()) == {f"{top}//src/**", f"{top}//**/*.md"}
    said = found.said_by("files.deny", f"{top}//keys/*.pem")
    assert said == [(found.sources[0], "keys/*.pem")]
    assert [rule for _, rule in found.said_by("files.allowOnly", "?")] == ["src/**, *.md"]


def test_patterns_of_others_start_where_the_session_does(
    place: Folders, project: Path, home: Path
) -> None:
    write(place.bounds / "mine.toml", '[files]\ndeny = ["keys/a"]\n')
    given = write(home / "x.toml", '[files]\ndeny = ["keys/b"]\n')
    spoken_for = write(home / "other" / ".barry" / "special.toml", '[files]\ndeny = ["keys/c"]\n')
    asked = ["mine", str(given), str(spoken_for)]
    found = effective_bound(place, [], str(project), asked=asked)
    assert found.bound is not None
    assert found.bound.files is not None
    assert set(found.bound.files.deny or ()) == {
        f"{project}//keys/a", f"{project}//keys/b", f"{home}/other//keys/c"
    }  # fmt: skip


def test_allowed_files_of_two_projects_meet(place: Folders, project: Path, home: Path) -> None:
    """Both are anchored before they are compared: neither starts "somewhere"."""
    write(home / "a" / ".barry" / "bound.toml", '[files]\nallowOnly = ["b/**"]\n')
    write(project / ".barry" / "bound.toml", '[files]\nallowOnly = ["src/**"]\n')
    found = effective_bound(place, [], str(project))
    assert found.bound is not None
    assert found.bound.files is not None
    (left,) = found.bound.files.allow_only or ()
    assert left.replace("//", "/") == f"{project}/src/**"
    assert found.notes == ()


def test_what_allows_nothing_is_said(place: Folders, project: Path, home: Path) -> None:
    write(home / "a" / ".barry" / "bound.toml", '[files]\nallowOnly = ["x/**"]\n')
    write(project / ".barry" / "bound.toml", '[files]\nallowOnly = ["src/**"]\n')
    found = effective_bound(place, [], str(project))
    assert found.bound is not None
    assert found.bound.files is not None
    assert found.bound.files.allow_only == ()
    assert any("no file is allowed" in note for note in found.notes)


# --- names ---


def test_the_users_own_goes_before_others(place: Folders, project: Path) -> None:
    write(place.bounds / "no-push.toml", denying("mine"))
    rows = [bag("acme", bounds={"no-push": {"bash": {"denyPrograms": ["theirs"]}}})]
    assert programs(effective_bound(place, rows, str(project), asked=["no-push"])) == ("mine",)
    for name, program in (
        ("acme:no-push", "theirs"), ("old-acme:no-push", "theirs"), ("barry:no-push", "git:push")
    ):  # fmt: skip
        assert program in programs(effective_bound(place, rows, str(project), asked=[name]))


def test_a_bag_can_not_take_the_place_of_a_shipped_bound(place: Folders, project: Path) -> None:
    rows = [bag("acme", bounds={"no-push": {"description": "denies nothing"}})]
    with pytest.raises(BoundNotFound, match="acme:no-push, barry:no-push"):
        effective_bound(place, rows, str(project), asked=["no-push"])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("no-psh", "did you mean no-push?"),
        ("barry:no-psh", "did you mean no-push?"),
        ("strct", "did you mean strict?"),
        ("acme:no-push", "did you mean no-push?"),
        ("nobody:strict", "did you mean strict?"),
        ("zzzzzzzz", "./zzzzzzzz.toml"),
        ("", "barry bound list"),
        ("..", "barry bound list"),
        ("a\0b", "barry bound list"),
    ],
)
def test_a_name_that_is_none(place: Folders, project: Path, name: str, hint: str) -> None:
    rows = [bag("acme", bounds={"strict": {"bash": {"deny": ["x"]}}})]
    with pytest.raises(BoundNotFound) as problem:
        effective_bound(place, rows, str(project), asked=[name])
    assert hint in problem.value.hint
    assert problem.value.exit_code == 2


def test_every_shipped_bound_restricts(place: Folders, project: Path) -> None:
    for name in ("no-push", "no-network", "read-only", "no-secrets", "ci"):
        found = effective_bound(place, [], str(project), asked=[name])
        assert found.bound is not None, name
        assert found.bound.description, name
        assert found.bound.name in (None, name)


def test_former_ids_of_harnesses_are_theirs(place: Folders, project: Path) -> None:
    write(place.bounds / "mine.toml", "[nativeTools]\nold-acme = ['A']\nacme = ['B']\nx = ['C']\n")
    found = effective_bound(place, [bag("acme")], str(project), asked=["mine"])
    assert found.bound is not None
    assert found.bound.native_tools == {"acme": ("A", "B"), "x": ("C",)}


# --- traits ---


def test_traits_bring_their_bounds(place: Folders, project: Path) -> None:
    coding = {
        "name": "coding", "access": "readwrite", "namespaces": ["git"],
        "bound": {"bash": {"denyPrograms": ["git"]}}, "boundNames": ["strict"],
        "includes": ["base"], "harnessTraits": {"acme": "acme-only"},
    }  # fmt: skip
    plain = {"access": "read", "namespaces": []}
    rows = [
        bag(
            "acme",
            bounds={"strict": {"bash": {"denyPrograms": ["own"]}}},
            traits={
                "coding": coding,
                "base": {"name": "base", **plain},
                "acme-only": {**plain, "name": "acme-only", "boundNames": ["no-push"]},
            },
        ),
        # Its own bag's bound is meant, whoever else has one of that name.
        bag("other", bounds={"strict": {"bash": {"denyPrograms": ["strange"]}}}),
    ]
    found = effective_bound(place, rows, str(project), traits=["coding"])
    assert programs(found) == ("git", "own")
    assert [trait.name for trait in found.traits] == ["coding", "base"]
    assert {source.why for source in found.sources} == {"trait"}
    more = effective_bound(place, rows, str(project), traits=["coding"], harness="acme")
    assert {"git", "own", "git:push"} <= set(programs(more))
    with pytest.raises(PolicyProblem, match="did you mean coding"):
        effective_bound(place, rows, str(project), traits=["codng"])


def test_a_trait_of_two_bags_is_named_whole(place: Folders, project: Path) -> None:
    rows = [
        bag(name, traits={"t": {"name": "t", "access": "read", "namespaces": [name]}})
        for name in ("acme", "other")
    ]
    with pytest.raises(PolicyProblem, match="any of acme:t, other:t"):
        effective_bound(place, rows, str(project), traits=["t"])
    found = effective_bound(place, rows, str(project), traits=["other:t"])
    assert found.traits[0].namespaces == ("other",)


def test_what_a_trait_names_is_its_own_bags(place: Folders, project: Path) -> None:
    def traits(word: str) -> dict[str, Any]:
        plain = {"access": "read", "namespaces": [word]}
        more = {
            "includes": ["base"],
            "boundNames": ["strict"],
            "harnessTraits": {"old-acme": "own"},
        }
        return {
            "t": {"name": "t", **plain, **more},
            "base": {"name": "base", **plain},
            "own": {"name": "own", **plain},
        }

    rows = [
        bag(
            name,
            bounds={"strict": {"bash": {"denyPrograms": [name]}}},
            traits=traits(name),
        )
        for name in ("acme", "other")
    ]
    for asked, owner in (("other:t", "other"), ("acme:t", "acme"), ("old-acme:t", "acme")):
        found = effective_bound(place, rows, str(project), traits=[asked])
        assert [trait.name for trait in found.traits] == ["t", "base"]
        assert {trait.namespaces for trait in found.traits} == {(owner,)}
        assert programs(found) == (owner,)
    # Under either name of the harness.
    for harness in ("acme", "old-acme"):
        found = effective_bound(place, rows, str(project), traits=["other:t"], harness=harness)
        assert [trait.name for trait in found.traits] == ["t", "base", "own"]
        assert found.traits[-1].namespaces == ("other",)


# --- files that are not right ---

WRONG: list[tuple[str, str, str]] = [
    ("x.toml", "[bash\n", "it isn't TOML"),
    ("x.toml", "[bash]\ndenyProgram = ['git']\n", "did you mean denyPrograms?"),
    ("x.toml", "[bash]\ndeny_programs = ['git']\n", "did you mean denyPrograms?"),
    ("x.toml", "[bsh]\n", "did you mean bash?"),
    ("x.toml", "[bash]\ndeny = ['']\n", "must not be empty"),
    ("x.toml", "[bash]\ndeny = 'git'\n", "must be a list"),
    ("x.toml", "[network]\nactions = ['git:psh']\n", "did you mean git:push?"),
    ("x.toml", "[network]\nallowDomains = ['a']\n", "enforced only by the egress sandbox"),
    ("x.json", "{", "isn't JSON"),
    ("x.json", "[]", "must be a table"),
    ("x.json", '{"bash": {"deny": ["a"]}, "bash": {}}', "twice"),
    ("x.json", '{"bash": null}', "null"),
    ("x.JSON", '{"bash": 1}', "must be a table"),
]


@pytest.mark.parametrize(("name", "text", "part"), WRONG)
def test_a_file_that_is_no_bound(home: Path, name: str, text: str, part: str) -> None:
    path = write(home / name, text)
    with pytest.raises(BoundRefused) as problem:
        read_bound_file(str(path))
    assert part in str(problem.value)
    assert str(path) in str(problem.value)
    assert problem.value.hint


def test_the_same_files_put_right(home: Path) -> None:
    """The counter-case: what was refused above is one letter from what holds."""
    assert read_bound_file(str(write(home / "x.toml", denying("git")))).bash is not None
    assert read_bound_file(str(write(home / "x.json", '{"bash": {}}'))).bash is not None


@pytest.mark.parametrize("kind", ["folder", "pipe", "bytes", "big", "nul"])
def test_what_is_no_file_of_text(home: Path, kind: str) -> None:
    path = home / "x.toml"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "bytes":
        path.write_bytes(b"\xff")
    elif kind == "big":
        path.write_bytes(b"#" * (2 << 20))
    else:
        path = Path(f"{path}\0x.toml")
    with pytest.raises(BoundRefused):
        read_bound_file(str(path))


def test_a_file_that_is_not_there(home: Path, place: Folders) -> None:
    with pytest.raises(BoundNotFound, match="there is no bound file"):
        effective_bound(place, [], str(home), asked=["./nothing.toml"])


def test_a_project_bound_that_can_not_be_read_is_not_passed_over(
    place: Folders, project: Path, home: Path
) -> None:
    path = project / ".barry" / "bound.toml"
    path.parent.mkdir()
    path.symlink_to(home / "nowhere")
    with pytest.raises(BoundRefused, match="leads nowhere"):
        effective_bound(place, [], str(project))
    path.unlink()
    path.mkdir()
    with pytest.raises(BoundRefused, match="regular file"):
        effective_bound(place, [], str(project))
    path.rmdir()
    assert effective_bound(place, [], str(project)).bound is None


@pytest.mark.parametrize("closed", ["file", "folder"])
def test_a_bound_without_permission_is_refused(
    as_nobody: AsNobody, open_folder: Path, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    monkeypatch.setenv("BARRY_HOME", str(open_folder / "barry"))
    path = write(open_folder / ".barry" / "bound.toml", denying("git"))
    effective_bound(folders(), [], str(open_folder))  # imports what the child will need
    (path if closed == "file" else path.parent).chmod(stat.S_IWUSR)

    def work() -> str:
        with pytest.raises(PermissionError):
            path.read_text()
        try:
            effective_bound(folders(), [], str(open_folder))
        except BarryError as problem:
            return problem.code
        return "nothing"

    assert as_nobody(work) == "bound-refused"
    path.parent.chmod(0o755)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[bounds]\nalway = []\n", "alway"),
        ("[bounds]\nalways = 'x'\n", "bounds.always is not a list"),
        ("[bound]\n", "bound"),
    ],
)
def test_settings_that_are_not_right(place: Folders, project: Path, text: str, part: str) -> None:
    write(place.settings, text)
    with pytest.raises(StoreProblem, match=part):
        effective_bound(place, [], str(project))


def test_a_path_in_the_settings_starts_at_them(place: Folders, project: Path, home: Path) -> None:
    write(place.settings, '[bounds]\nalways = ["./near.toml", "~/far.toml"]\n')
    write(place.config / "near.toml", denying("near"))
    write(home / "far.toml", denying("far"))
    assert programs(effective_bound(place, [], str(project))) == ("far", "near")


# --- parts ---


def test_rules_by_the_name_of_their_field() -> None:
    bound = parse_bound({
        "bash": {"denyPrograms": ["a"]}, "nativeTools": {"acme": ["B"]}, "deniedTools": ["c"],
        "network": {"enforce": "guard"},
    })  # fmt: skip
    assert rules_of(bound, "bash.denyPrograms") == ("a",)
    assert rules_of(bound, "nativeTools.acme") == ("B",)
    assert rules_of(bound, "deniedTools") == ("c",)
    for field in ("bash.deny", "files.deny", "nativeTools.other", "network.enforce", "floor", ""):
        assert rules_of(bound, field) is None


def test_a_bound_without_files_stays_as_it_is() -> None:
    bound = Bound()
    assert in_place(bound, "/x") is bound
