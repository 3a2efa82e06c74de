"""What a call would do, read from how Gemini CLI asks about it; what is in doubt is not guessed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

HERE = "[current working directory /w]"


def understood(call: dict[str, Any], *servers: str, roots: bool = False) -> Any:
    from barry_adapter_gemini.calls import understood

    return understood(call, servers, roots=roots)


def call(tool: str, kind: str, title: str = "", **more: Any) -> dict[str, Any]:
    return {"toolCallId": f"{tool}__{tool}_1796_0", "kind": kind, "title": title, **more}


def beside(text: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def shell(command: str, text: str) -> Any:
    return understood(call("run_shell_command", "execute", command, content=beside(text)))


@pytest.mark.parametrize(
    "text", [HERE, f"{HERE} (why)", f"{HERE} [background]", f"{HERE} (a] b) [background]"]
)
def test_a_command_is_the_title_whole(text: str) -> None:
    command = "echo [in /x] (y) " + "long " * 200
    assert shell(command, text) == ("run_shell_command", {"command": command})


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("[in deep/er]", "deep/er"),
        ("[in /a b] (why)", "/a b"),
        ("[in ../x] (why) [background]", "../x"),
    ],
)
def test_a_command_runs_where_the_text_beside_it_says(text: str, folder: str) -> None:
    assert shell("ls", text) == ("run_shell_command", {"command": "ls", "dir_path": folder})


@pytest.mark.parametrize(
    "text",
    [
        "[in /safe] (x] (y)",  # a folder with the odd name "/safe] (x", or a reason with a bracket
        "[in /safe] (x)] [background]",
        "[in /safe] [background] more",
        "[in ]",
        "somewhere",
        "",
    ],
)
def test_a_folder_that_is_not_beyond_doubt_is_not_guessed(text: str) -> None:
    assert shell("ls", text) is None


def test_a_command_without_a_text_beside_it_is_not_guessed() -> None:
    assert understood(call("run_shell_command", "execute", "ls", content=[])) is None
    assert understood(call("run_shell_command", "execute", "ls")) is None
    assert shell("", HERE) is None


def test_a_file_is_its_one_location() -> None:
    place = [{"path": "/w/a.txt", "line": 3}]
    found = understood(call("read_file", "read", "...a.txt", locations=place))
    assert found == ("read_file", {"file_path": "/w/a.txt"})
    assert understood(call("read_file", "read", "a.txt")) is None
    assert understood(call("read_file", "read", "a.txt", locations=place * 2)) is None


@pytest.mark.parametrize("tool", ["write_file", "replace"])
def test_a_change_has_its_file_and_what_it_will_be(tool: str) -> None:
    place = [{"path": "/w/a.txt"}]
    diff = {"type": "diff", "path": "/w/a.txt", "oldText": "old", "newText": "new"}
    given_ = call(tool, "edit", locations=place, content=[diff])
    assert understood(given_) == (tool, {"file_path": "/w/a.txt", "content": "new"})
    elsewhere = {**given_, "content": [{**diff, "path": "/w/b.txt"}]}
    assert understood(elsewhere) is None
    assert understood({**given_, "content": []}) is None


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("'*.txt' within deep", {"pattern": "*.txt", "dir_path": "deep"}),
        ("'a' in *.py within ./", {"pattern": "a", "include_pattern": "*.py", "dir_path": "./"}),
        ("'a' in *.py", {"pattern": "a", "include_pattern": "*.py"}),
        ("'a\nb'", {"pattern": "a\nb"}),
        # A folder that was cut short, or a pattern or a glob that may look like one.
        ("'a' within deep...er", None),
        ("'a' within b' within c", None),
        ("'it's'", None),
        ("'a' in x within /safe", None),
        ("'a' within b within c", None),
        ("'a' across all workspace directories", None),
        ("", None),
    ],
)
def test_a_search_is_read_only_where_nothing_in_it_may_be_something_else(
    title: str, found: dict[str, str] | None
) -> None:
    expected = None if found is None else ("grep_search", found)
    assert understood(call("grep_search", "search", title)) == expected


def test_a_glob_without_a_folder_looks_through_every_root() -> None:
    anywhere, below = call("glob", "search", "'*'"), call("glob", "search", "'*' within deep")
    assert understood(anywhere) == ("glob", {"pattern": "*"})
    assert understood(anywhere, roots=True) is None
    assert understood(below, roots=True) is not None


def test_a_folder_that_was_cut_short_is_not_guessed() -> None:
    listed = understood(call("list_directory", "search", "deep/er"))
    assert listed == ("list_directory", {"dir_path": "deep/er"})
    assert understood(call("list_directory", "search", "/very/.../deep")) is None
    assert understood(call("list_directory", "search", "")) is None


def test_a_tool_of_another_kind_is_another_tool() -> None:
    place = [{"path": "/w/a.txt"}]
    assert understood(call("read_file", "other", locations=place)) is None
    assert understood(call("no_such_tool", "other", "x")) is None
    assert understood({"toolCallId": "resolve-prompt-/etc/passwd-1", "kind": "read"}) is None
    assert understood({}) is None


def server_call(name: str, id: str, given_: Any = "{}") -> dict[str, Any]:
    text = given_ if isinstance(given_, str) else json.dumps(given_)
    return {"toolCallId": f"{name}__{id}", "kind": "other", "content": beside(text)}


def test_a_servers_tool_has_its_arguments_beside_it() -> None:
    known = server_call("mcp_small_greet", "mcp_small_greet_1796_3", {"name": "you"})
    assert understood(known, "small") == ("mcp__small__greet", {"name": "you"})
    assert understood(server_call("mcp_small_greet", "call_7"), "small", "other") == (
        "mcp__small__greet",
        {},
    )
    odd = server_call("mcp_small_a__b", "mcp_small_a__b_1796_3")
    assert understood(odd, "small") == ("mcp__small__a__b", {})


@pytest.mark.parametrize(
    ("known", "servers"),
    [
        (server_call("mcp_small_greet", "call_7"), ()),
        (server_call("mcp_a_b_c", "call_7"), ("a", "a_b")),  # of which server?
        (server_call("mcp_small_a__b", "call_7"), ("small",)),  # which tool?
        (server_call("mcp_small_greet", "call_7", "[Payload omitted due to length]"), ("small",)),
        (server_call("mcp_small_greet", "call_7", "[1]"), ("small",)),
        ({**server_call("mcp_small_greet", "call_7"), "kind": "read"}, ("small",)),
        (server_call("mcp_small_", "call_7"), ("small",)),
    ],
)
def test_a_servers_tool_that_is_not_beyond_doubt_is_not_guessed(
    known: dict[str, Any], servers: tuple[str, ...]
) -> None:
    assert understood(known, *servers) is None


def test_every_tool_that_is_left_can_be_read() -> None:
    from barry_adapter_gemini import calls
    from barry_adapter_gemini.declared import HOSTED_NATIVE

    assert set(HOSTED_NATIVE.grantable) == set(calls._READERS)


texts = st.text(alphabet="a/ '[]().\n_", max_size=20)


@given(folder=texts, reason=texts, background=st.booleans())
def test_no_words_pass_for_another_folder(folder: str, reason: str, background: bool) -> None:
    """As the program writes it: whatever is read is what was meant."""
    text = f"[in {folder}]" if folder else HERE
    text += f" ({reason})" if reason else ""
    found = shell("ls", text + (" [background]" if background else ""))
    if found is not None:
        assert found[1].get("dir_path", "") == folder


@given(pattern=texts, glob=texts, folder=texts)
def test_no_words_pass_for_another_place_to_search(pattern: str, glob: str, folder: str) -> None:
    text = f"'{pattern}'" + (f" in {glob}" if glob else "") + f" within {folder or './'}"
    found = understood(call("grep_search", "search", text))
    if found is not None:
        assert found[1].get("dir_path") == (folder or "./")


@given(
    st.dictionaries(
        st.sampled_from(["toolCallId", "kind", "title", "content", "locations"]),
        st.one_of(st.none(), st.text(), st.lists(st.none() | st.text())),
    )
)
def test_any_call_is_read_or_not(call: dict[str, Any]) -> None:
    understood(call, "small")
