"""Models, styles, system prompts, plugins."""

import pytest


def test_shout(demo):
    assert demo.run("-p", "hello", "--model", "shout").stdout == "DEMO HEARD: HELLO\n"


def test_system_prompts_reach_the_model(demo):
    done = demo.run("-p", "system", "--system-prompt", "one", "--append-system-prompt", "two")
    assert done.stdout == "my system prompt: one\ntwo\n"
    assert demo.run("-p", "system").stdout == "my system prompt: (none)\n"


def test_style(demo):
    settings = demo.file("settings.json", {"style": "pirate"})
    assert demo.run("-p", "x", "--settings", settings).stdout == "Arr! demo heard: x\n"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("nope", "is not JSON"),
        ([], "is not an object"),
        ({"styles": "plain"}, "unknown key 'styles'; known: style, banner"),
        ({"style": "ninja"}, "style is plain or pirate, not 'ninja'"),
        ({"style": []}, "style is plain or pirate"),
        ({"banner": 1}, "banner is true or false"),
    ],
)
def test_bad_settings(demo, value, words):
    done = demo.run("-p", "x", "--settings", demo.file("settings.json", value))
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_banner_and_skills(demo, prompt):
    skills = demo.base / "plugin" / "skills"
    skills.mkdir(parents=True)
    (skills / "sail.md").write_text("how to sail")
    (skills / "notes.txt").write_text("not a skill")
    settings = demo.file("settings.json", {"banner": False})
    child = demo.tui("--plugin-dir", str(skills.parent), "--settings", settings)
    prompt(child)
    assert "session" not in child.before
    child.send("/help\r")
    child.expect_exact("skill: sail")
    prompt(child)
    assert "notes" not in child.before
