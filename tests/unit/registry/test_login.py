from __future__ import annotations

from pathlib import Path

import pytest

from barry_cli.contract.requirements import Binary, Install, Login, Pin, Requirements
from barry_cli.registry.login import Concern, check_login, conflicts, login_present
from tests.conftest import AsNobody

LOGIN = Login(
    variables=("TOOL_KEY", "TOOL_TOKEN"),
    files=("~/.tool/login.json", "$TOOL_HOME/login.json", "${TOOL_HOME}/more.json"),
    conflicts=(("TOOL_KEY", "TOOL_TOKEN", "TOOL_OAUTH"),),
)


def requirements(login: Login | None) -> Requirements:
    binary = Binary(
        command="tool",
        version_args=(),
        version_pattern="(1)",
        pin=Pin(version="1", enforced_by="nothing"),
        install=Install(),
    )
    return Requirements(binary=binary, login=login)


def test_no_login_is_said_with_where_was_looked(home: Path) -> None:
    (concern,) = check_login(LOGIN, {"HOME": str(home), "TOOL_KEY": ""})
    assert "TOOL_KEY, TOOL_TOKEN, ~/.tool/login.json" in concern.text
    assert concern.fix == "start the harness once and log in, or set TOOL_KEY"


def test_a_long_list_is_cut_short() -> None:
    (concern,) = check_login(Login(variables=tuple(f"KEY_{n}" for n in range(30))), {})
    assert concern.text.endswith("KEY_3, KEY_4 and 25 more")


@pytest.mark.parametrize("name", ["TOOL_KEY", "TOOL_TOKEN"])
def test_a_variable_is_enough(name: str) -> None:
    env = {name: "made-up"}
    assert check_login(LOGIN, env) == []
    assert login_present(LOGIN, env) == name


@pytest.mark.parametrize("file", LOGIN.files)
def test_a_file_is_enough(home: Path, tmp_path: Path, file: str) -> None:
    env = {"HOME": str(home), "TOOL_HOME": str(tmp_path)}
    assert login_present(LOGIN, env) is None
    where = home / ".tool" if file.startswith("~") else tmp_path
    where.mkdir(exist_ok=True)
    (where / file.rpartition("/")[2]).touch()
    assert check_login(LOGIN, env) == []
    assert login_present(LOGIN, env) == file


def test_a_place_that_is_not_set_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    login = Login(files=("$TOOL_HOME/etc/passwd", "~/etc/passwd"))
    assert login_present(login, {}) is None
    assert login_present(login, {"TOOL_HOME": "/.", "HOME": ""}) == "$TOOL_HOME/etc/passwd"


def test_presence_needs_no_reading(open_folder: Path, as_nobody: AsNobody) -> None:
    secret = open_folder / "login.json"
    secret.touch()
    secret.chmod(0o000)
    env = {"TOOL_HOME": str(open_folder)}

    def look() -> tuple[bool, str | None]:
        try:
            secret.read_bytes()
        except PermissionError:
            return True, login_present(LOGIN, env)
        return False, None

    assert as_nobody(look) == (True, "$TOOL_HOME/login.json")


def test_conflicting_variables(home: Path) -> None:
    env = {"HOME": str(home), "TOOL_KEY": "a", "TOOL_OAUTH": "b", "TOOL_TOKEN": ""}
    assert conflicts(requirements(LOGIN), env) == [("TOOL_KEY", "TOOL_OAUTH")]
    assert check_login(LOGIN, env) == [
        Concern(
            "TOOL_KEY and TOOL_OAUTH are set together, and at most one of them may be",
            "unset all but one: unset TOOL_OAUTH",
            blocking=True,
        )
    ]
    assert conflicts(requirements(LOGIN), {"TOOL_KEY": "a"}) == []


def test_a_harness_that_needs_no_login() -> None:
    assert check_login(None, {}) == []
    assert check_login(Login(needed=False, variables=("TOOL_KEY",)), {}) == []
    assert conflicts(requirements(None), {}) == []


def test_a_login_that_shows_nowhere() -> None:
    (concern,) = check_login(Login(), {})
    assert concern.fix
