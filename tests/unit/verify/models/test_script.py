"""Scripts as people write them, and what they are told about wrong ones."""

from __future__ import annotations

import json
import re

import pytest

from barry_cli.verify.models import Call, Drop, Fail, Rule, Say, Script, ScriptError, ToolCall


def test_every_spelling_of_a_step():
    steps = [
        "bare",
        {"text": "slow", "chunks": 3, "delay": 0.5},
        {"tool": "a", "input": {"x": 1}},
        {"tool": "b", "input": "free text", "namespace": "ns", "text": "first", "delay": 1},
        {"tools": [{"tool": "a"}, {"tool": "b"}]},
        {"status": 429, "message": "later", "headers": {"retry-after": "1"}, "times": 2},
        {"drop": True},
        {"drop": "midway", "times": 1},
    ]
    script = Script.parse({"rules": [{"when": "x", "then": steps}]})
    assert script.rules[0].then == (
        Say(text="bare"),
        Say(text="slow", chunks=3, delay=0.5),
        Call(tools=(ToolCall(tool="a", input={"x": 1}),)),
        Call(tools=(ToolCall(tool="b", input="free text", namespace="ns"),), text="first", delay=1),
        Call(tools=(ToolCall(tool="a"), ToolCall(tool="b"))),
        Fail(status=429, message="later", headers={"retry-after": "1"}, times=2),
        Drop(),
        Drop(drop="midway", times=1),
    )
    assert Script.parse(script.model_dump()) == script


def test_a_script_of_objects_equals_one_of_data():
    built = Script(rules=(Rule(when="x", then=(Say(text="hi"),)),), default=Say(text="no"))
    assert built == Script.parse({"rules": [{"when": "x", "then": ["hi"]}], "default": "no"})


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ([], "top level"),
        ({"rules": [{"when": "x"}]}, "rules.0.then"),
        ({"rules": [{"when": "x", "then": []}]}, "rules.0.then"),
        ({"rules": [{"when": "x", "then": [{}]}]}, "a step needs one of text, tool"),
        ({"rules": [{"when": "x", "then": [7]}]}, "a step needs one of text, tool"),
        ({"rules": [{"when": "x", "then": [{"txet": "y"}]}]}, "a step needs one of text, tool"),
        ({"rules": [{"when": "x", "then": ["y"], "extra": 1}]}, "rules.0.extra"),
        ({"rules": [{"when": "x", "then": [{"status": 200}]}]}, "greater than or equal to 400"),
        ({"rules": [{"when": "x", "then": [{"text": "y", "chunks": 0}]}]}, "chunks"),
        ({"rules": [{"when": "x", "then": [{"text": "y", "delay": -1}]}]}, "delay"),
        ({"rules": [{"when": "x", "then": [{"drop": "later"}]}]}, "drop"),
        ({"rules": [{"when": "x", "then": [{"tool": ""}]}]}, "tool"),
        ({"rules": [{"when": "x", "then": [{"tools": []}]}]}, "tools"),
        ({"rules": [{"when": "x", "then": [{"tool": "a", "tools": []}]}]}, "not both"),
        ({"defualt": "x"}, "defualt"),
        ({"default": {"tool": "x"}}, "default"),
        (
            {"rules": [{"when": "x", "then": [{"status": 400, "headers": {"a": "b\r\nc: d"}}]}]},
            "can't be sent",
        ),
    ],
)
def test_a_fault_is_one_sentence_that_names_its_place(data, part):
    with pytest.raises(ScriptError) as caught:
        Script.parse(data)
    sentence = str(caught.value)
    assert part in sentence
    assert "\n" not in sentence
    assert sentence.startswith("the script is not a usable script: ")


def test_json_and_toml_files(tmp_path):
    data = {"rules": [{"when": "x", "then": ["hi", {"status": 500}]}]}
    one = tmp_path / "one.json"
    one.write_text(json.dumps(data))
    two = tmp_path / "two.toml"
    two.write_text('[[rules]]\nwhen = "x"\nthen = ["hi", { status = 500 }]\n')
    assert Script.load(one) == Script.load(two) == Script.parse(data)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", b"{", "not valid JSON"),
        ("a.json", b"\xff\xfe", "not valid JSON"),
        ("a.json", b"[" * 100_000, "nested too deeply|not valid JSON"),
        ("a.toml", b"x = ", "not valid TOML"),
        ("a.json", b"{}x", "not valid JSON"),
        ("a.json", b'{"rules": 1}', "rules"),
    ],
)
def test_a_file_that_is_none(tmp_path, name, content, reason):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ScriptError) as caught:
        Script.load(path)
    assert re.search(reason, str(caught.value))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ScriptError, match="can't be read: No such file"):
        Script.load(tmp_path / "none.json")
    with pytest.raises(ScriptError, match="can't be read: Is a directory"):
        Script.load(tmp_path)
