"""The published suite passes an adapter that keeps to the rules and fails each that does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from barry_cli.testing import AdapterSuite, NotConforming, conformance_checks
from tests.unit.registry.packages import package_of, write_package

ROOT = Path(__file__).resolve().parents[3]

FULL = '''
"""A plan that honours much, by a harness that could be."""
import json
import uuid

from barry_cli.adapters import PlanDraft, lowered

NATIVE = None
TOOLS = ("Shell", "Read")


async def plan(config):
    from barry_adapter_toy import GUARANTEES
    with PlanDraft("Toy", config, GUARANTEES) as draft:
        asked = draft.config
        id = str(uuid.uuid4())
        resume = asked.resume
        if resume is None:
            draft.args += ["--id", id]
        elif resume.harness_session_id:
            id = resume.harness_session_id
            draft.args += ["--resume", id]
        else:
            id = None
            draft.args += ["--continue"] if resume.last else ["--pick"]
        if asked.model:
            draft.args += ["--model", asked.model]
        if asked.endpoint:
            draft.env["TOY_URL"] = asked.endpoint.url
            if asked.endpoint.key:
                draft.env["TOY_KEY"] = asked.endpoint.key.get_secret_value()
                draft.secrets.append(draft.env["TOY_KEY"])
        if asked.system_prompt:
            file = draft.file("prompt.txt", asked.system_prompt)
            draft.args += ["--prompt", str(file)]
        denied = draft.denied(TOOLS, NATIVE)
        if denied:
            draft.args += ["--deny", ",".join(denied)]
        for name in (asked.options or {}):
            draft.args += [f"--{name}", json.dumps(asked.options[name])]
        return draft.finish("toy", harness_session_id=id)
'''

OPTIONS = """options={"type": "object", "properties": {"effort": {"enum": ["low", "high"]},
"n": {"type": "integer"}}, "additionalProperties": False},"""


def package(folder: Path) -> Path:
    """A conforming package."""
    write_package(folder, after="", more=OPTIONS)
    (folder / "README.md").write_text("# Toy\n")
    code = package_of(folder)
    init = (code / "__init__.py").read_text()
    start, end = init.index("async def plan"), init.index("adapter = define_adapter")
    init = init[:start] + "from barry_adapter_toy.launch import plan\n\n\n" + init[end:]
    init = init.replace('endpoint="fixed"', 'endpoint="configurable"')
    (code / "__init__.py").write_text(init.replace('capture="none"', 'capture="post-hoc"'))
    (code / "launch.py").write_text(FULL)
    return folder


def edit(folder: Path, old: str, new: str, file: str = "launch.py") -> Path:
    path = package_of(folder) / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return folder


def run(folder: Path) -> dict[str, str]:
    """What each check that failed says."""
    said = {}
    for name, check in conformance_checks(folder).items():
        try:
            check()
        except NotConforming as problem:
            said[name] = str(problem)
    return said


def test_an_adapter_that_keeps_to_the_rules_passes(tmp_path: Path) -> None:
    before = dict(os.environ)
    assert run(package(tmp_path / "toy")) == {}
    assert dict(os.environ) == before


FINISH = 'return draft.finish("toy", harness_session_id=id)'

# What an adapter does wrong -> the check that says so, and a part of what it says.
WRONG: dict[str, tuple[str, str, str, str]] = {
    "a field read and ignored": (
        'draft.args += ["--model", asked.model]',
        "pass",
        "every_field_is_honoured_or_named",
        "guest: model",
    ),
    "a denial that changes nothing": (
        'draft.args += ["--deny", ",".join(denied)]',
        "pass",
        "every_field_is_honoured_or_named",
        "guest: denied_tools=Shell",
    ),
    "an option that changes nothing": (
        'draft.args += [f"--{name}", json.dumps(asked.options[name])]',
        "pass",
        "every_field_is_honoured_or_named",
        "guest: options.effort",
    ),
    "a secret among the arguments": (
        'draft.env["TOY_KEY"] = asked.endpoint.key.get_secret_value()',
        (
            'draft.env["TOY_KEY"] = asked.endpoint.key.get_secret_value()\n'
            '                draft.args += ["--key", draft.env["TOY_KEY"]]'
        ),
        "plans_keep_the_rules",
        "guest, endpoint: the endpoint's key is among the arguments",
    ),
    "a secret in a warning": (
        'draft.env["TOY_KEY"] = asked.endpoint.key.get_secret_value()',
        (
            'draft.env["TOY_KEY"] = asked.endpoint.key.get_secret_value()\n'
            "                draft.warn(f\"key {draft.env['TOY_KEY']}\")"
        ),
        "plans_keep_the_rules",
        "the endpoint's key is in a warning",
    ),
    "arguments after the user's": (
        FINISH,
        (
            "import dataclasses\n"
            "        made = draft.finish('toy', harness_session_id=id)\n"
            "        return dataclasses.replace(made, args=(*made.args, '--last'))"
        ),
        "plans_keep_the_rules",
        "the user's own arguments are not the last ones",
    ),
    "a promise raised": (
        FINISH,
        (
            "import dataclasses\n"
            "        made = draft.finish('toy', harness_session_id=id)\n"
            "        more = made.guarantees.model_copy(update={'gating': 'static'})\n"
            "        return dataclasses.replace(made, guarantees=more)"
        ),
        "plans_keep_the_rules",
        "promises more than its mode: gating",
    ),
    "a promise lowered for no reason": (
        FINISH,
        (
            "import dataclasses\n"
            "        made = draft.finish('toy', harness_session_id=id)\n"
            "        less = made.guarantees.model_copy(update={'capture': 'none'})\n"
            "        return dataclasses.replace(made, guarantees=less, lowered={})"
        ),
        "plans_keep_the_rules",
        "the plan lowers capture and gives no reason",
    ),
    "delivery without an inbox": (
        FINISH,
        (
            "import dataclasses\n"
            "        made = draft.finish('toy', harness_session_id=id)\n"
            "        more = made.guarantees.model_copy(update={'delivery': 'turn-end'})\n"
            "        return dataclasses.replace(made, guarantees=more)"
        ),
        "plans_keep_the_rules",
        "promises delivery turn-end and opens no inbox",
    ),
    "a folder that others can look into": (
        FINISH,
        "draft.folder().chmod(0o755)\n        " + FINISH,
        "plans_keep_the_rules",
        "others can look into the plan's folder",
    ),
    "a folder that is not there": (
        FINISH,
        "draft.folder().rmdir()\n        " + FINISH,
        "plans_keep_the_rules",
        "a folder that is not there",
    ),
    "a folder that nobody will remove": (
        FINISH,
        "import tempfile\n        tempfile.mkdtemp()\n        " + FINISH,
        "plans_keep_the_rules",
        "behind, which the plan does not name",
    ),
    "a file in the user's home": (
        FINISH,
        "import os\n        open(os.path.expanduser('~/.toyrc'), 'w').close()\n        " + FINISH,
        "plans_keep_the_rules",
        "planning writes home/.toyrc",
    ),
    "a changed configuration": (
        FINISH,
        "config.env['MORE'] = '1'\n        " + FINISH,
        "plans_keep_the_rules",
        "changes the configuration that it is given",
    ),
    "no plan": (FINISH, "return None", "plans_keep_the_rules", "plan gives a NoneType"),
    "a plan that fails": (
        FINISH,
        "raise KeyError('x')",
        "plans_keep_the_rules",
        "plan raises KeyError",
    ),
    "a plan that differs each time": (
        FINISH,
        "import os\n        draft.args.append(os.urandom(8).hex())\n        " + FINISH,
        "plan_is_repeatable",
        "other args the second time",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_adapter_that_breaks_a_rule_fails(tmp_path: Path, what: str) -> None:
    old, new, check, part = WRONG[what]
    said = run(edit(package(tmp_path / "toy"), old, new))
    assert part in said.get(check, ""), said


def test_a_refusal_is_an_answer(tmp_path: Path) -> None:
    folder = edit(
        package(tmp_path / "toy"),
        'draft.args += ["--model", asked.model]',
        'raise BarryError("that model is not for this harness")',
    )
    edit(folder, "import PlanDraft, lowered", "import BarryError, PlanDraft")
    assert run(folder) == {}


def test_a_package_without_a_readme_or_rows_for_its_tools_fails(tmp_path: Path) -> None:
    folder = package(tmp_path / "toy")
    (folder / "README.md").write_text(" \n")
    edit(folder, "bag='.'", "bag=None", "__init__.py")
    said = run(folder)
    assert said["readme_is_there"] == f"{folder} has no README"
    assert said["bag_covers_the_tools"] == "its bag has no row for Shell, Read"


def test_transcripts_that_find_what_is_not_there_fail(tmp_path: Path) -> None:
    folder = package(tmp_path / "toy")
    edit(folder, OPTIONS, f"{OPTIONS} transcript=Source(),", "__init__.py")
    edit(
        folder,
        "adapter = define",
        "class Source:\n"
        "    def find(self, id, cwd, env): return None\n"
        "    def list(self, cwd, env): return iter(['ghost'])\n"
        "    def read(self, path): return iter(())\n\n\nadapter = define",
        "__init__.py",
    )
    assert "['ghost']" in run(folder)["transcripts_of_an_empty_home"]
    edit(folder, "iter(['ghost'])", "iter(())", "__init__.py")
    assert run(folder) == {}


def test_a_package_that_is_refused_says_why(tmp_path: Path) -> None:
    folder = edit(package(tmp_path / "toy"), "id='toy'", "id='Toy'", "__init__.py")
    with pytest.raises(NotConforming, match="id 'Toy' is not an id"):
        conformance_checks(folder)


def test_five_lines_are_a_test_file(tmp_path: Path) -> None:
    folder = package(tmp_path / "toy")
    (folder / "tests").mkdir()
    (folder / "tests/test_toy.py").write_text(
        "from barry_cli.testing import AdapterSuite\n\n\n"
        "class TestToy(AdapterSuite):\n"
        '    package = ".."\n'
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder / "tests"],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    count = len([name for name in vars(AdapterSuite) if name.startswith("test_")])
    assert f"{count} passed" in done.stdout, done.stdout
