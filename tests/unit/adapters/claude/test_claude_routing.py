"""Requests and keys go where the launch says, whatever settings files say."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from barry_cli.contract.models import Endpoint

A, B, C = (f"http://127.0.0.1:{port}" for port in (1, 2, 3))
KEY = "sk-made-up-0123456789"
BASE = "ANTHROPIC_BASE_URL"
MANAGED = "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST"


def endpoint(**changes: Any) -> Endpoint:
    return Endpoint(**{"url": A, "api": "anthropic", "key": SecretStr(KEY), **changes})


def test_an_endpoint_is_all_or_nothing(make: Any) -> None:
    plan = make(
        endpoint=endpoint(),
        env={
            "ANTHROPIC_API_KEY": "users-own",
            "ANTHROPIC_CUSTOM_HEADERS": "x: y",
            "CLAUDE_CODE_OAUTH_TOKEN": "users-login",
            "CLAUDE_CODE_USE_BEDROCK": "1",
            "HTTPS_PROXY": "http://proxy",
            "OTHER_API_KEY": "not ours",
        },
    )
    assert plan.env == {
        "ANTHROPIC_API_KEY": None,
        "ANTHROPIC_AUTH_TOKEN": KEY,
        BASE: A,
        "ANTHROPIC_CUSTOM_HEADERS": None,
        "CLAUDE_CODE_OAUTH_TOKEN": None,
        "CLAUDE_CODE_USE_BEDROCK": None,
        MANAGED: "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    assert KEY not in " ".join(plan.args)
    assert KEY in plan.secrets
    assert plan.tmp_dirs == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key": None}, "without a key"),
        ({"key": SecretStr("")}, "without a key"),
        ({"api": "openai"}, "does not speak"),
    ],
)
def test_an_unsafe_endpoint_is_refused(make: Any, changes: dict[str, Any], said: str) -> None:
    from barry_cli.adapters import Refused

    with pytest.raises(Refused, match=said) as refused:
        make(endpoint=endpoint(**changes))
    assert refused.value.exit_code == 2


def test_an_address_from_the_environment_is_repeated(make: Any, inline: Any) -> None:
    plan = make(env={BASE: A, "ANTHROPIC_API_KEY": KEY})
    assert inline(plan) == {BASE: A}
    assert plan.tmp_dirs == ()
    assert plan.warnings == ()
    assert BASE not in plan.env


def test_the_environment_stands_against_both_kinds_of_settings(
    make: Any, inline: Any, place: Any
) -> None:
    user, folder = place.user_sets(**{BASE: B}), place.folder_sets(**{BASE: C})
    plan = make(env={BASE: A, "ANTHROPIC_API_KEY": KEY})
    assert inline(plan) == {BASE: A}
    assert KEY not in " ".join(plan.args)
    assert [
        str(path) in text for path, text in zip((user, folder), plan.warnings, strict=True)
    ] == [
        True,
        True,
    ]


def test_the_state_files_variables_count_as_the_users(make: Any, inline: Any, place: Any) -> None:
    (place.home / ".claude.json").write_text(json.dumps({"env": {BASE: B}}), encoding="utf-8")
    assert inline(make(env={BASE: A})) == {BASE: A}


def test_a_key_that_settings_replace_is_repeated_in_a_private_file(
    make: Any, inline: Any, place: Any
) -> None:
    place.user_sets(ANTHROPIC_API_KEY="another")
    plan = make(env={BASE: A, "ANTHROPIC_API_KEY": KEY})
    assert inline(plan) == {BASE: A, "ANTHROPIC_API_KEY": KEY}
    assert KEY not in " ".join(plan.args)
    (word,) = [word for word in plan.args if word.startswith("--settings=")]
    path = Path(word.partition("=")[2])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert plan.tmp_dirs == (str(path.parent),)
    assert KEY in plan.secrets


def test_another_login_of_the_users_is_not_sent_to_the_environments_address(
    make: Any, inline: Any, place: Any
) -> None:
    place.user_sets(ANTHROPIC_AUTH_TOKEN="users-own")
    plan = make(env={BASE: A, "ANTHROPIC_API_KEY": KEY})
    assert inline(plan) == {BASE: A, "ANTHROPIC_AUTH_TOKEN": ""}
    assert plan.tmp_dirs == ()
    # Without an address in the environment it is the user's settings that route: they stay whole.
    assert inline(make(env={"ANTHROPIC_API_KEY": KEY})) == {}


def test_a_folders_settings_route_nothing(make: Any, inline: Any, place: Any) -> None:
    place.folder_sets(
        "settings.local.json",
        HTTPS_PROXY=C,
        CLAUDE_CODE_USE_BEDROCK="1",
        ANTHROPIC_BEDROCK_BASE_URL=C,
        NODE_TLS_REJECT_UNAUTHORIZED="0",
        FOO="bar",
        **{BASE: C},
    )
    plan = make(env={"ANTHROPIC_API_KEY": KEY})
    assert inline(plan) == {
        BASE: "",
        "HTTPS_PROXY": "",
        "CLAUDE_CODE_USE_BEDROCK": "",
        "ANTHROPIC_BEDROCK_BASE_URL": "",
        "NODE_TLS_REJECT_UNAUTHORIZED": "",
    }
    assert len(plan.warnings) == 1
    assert BASE in plan.warnings[0]


def test_a_folder_does_not_take_the_place_of_what_the_user_set(
    make: Any, inline: Any, place: Any
) -> None:
    place.user_sets(**{BASE: B, "ANTHROPIC_AUTH_TOKEN": KEY})
    place.folder_sets(**{BASE: C, "ANTHROPIC_AUTH_TOKEN": "evil"})
    plan = make()
    assert inline(plan) == {BASE: B, "ANTHROPIC_AUTH_TOKEN": KEY}
    assert KEY not in " ".join(plan.args)


def test_a_folder_that_agrees_is_not_spoken_of(make: Any, place: Any) -> None:
    place.folder_sets(**{BASE: A, "FOO": "bar"})
    assert make(env={BASE: A}).warnings == ()


def test_the_home_folders_settings_are_the_users(make: Any, inline: Any, place: Any) -> None:
    place.user_sets(**{BASE: B})
    plan = make(cwd=str(place.home))
    assert inline(plan) == {}
    assert plan.warnings == ()


def test_another_config_folder_is_looked_into(
    make: Any, inline: Any, place: Any, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "settings.json").write_text(json.dumps({"env": {"DISABLE_AUTOUPDATER": "0"}}))
    plan = make(env={"CLAUDE_CONFIG_DIR": str(own)})
    assert inline(plan) == {"DISABLE_AUTOUPDATER": "1"}


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + json.dumps({"env": {BASE: C}}).encode(),
        json.dumps({"env": {BASE: C}}).encode("utf-16"),
        b'{"n": ' + b"1" * 5000 + b', "env": {"\\u0041NTHROPIC_BASE_URL": "' + C.encode() + b'"}}',
        b'{"x": "\xff", "env": {"ANTHROPIC_BASE_URL": "' + C.encode() + b'"}}',
    ],
)
def test_what_claude_code_can_read_is_read(make: Any, inline: Any, place: Any, data: bytes) -> None:
    (place.cwd / ".claude" / "settings.json").write_bytes(data)
    assert inline(make()) == {BASE: ""}


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"env": 3}', b"// no\n{}"])
def test_what_claude_code_takes_nothing_from_is_passed_over(
    make: Any, inline: Any, place: Any, data: bytes
) -> None:
    (place.cwd / ".claude" / "settings.json").write_bytes(data)
    assert inline(make()) == {}


def test_settings_too_deep_to_read_are_refused(make: Any, place: Any) -> None:
    from barry_cli.adapters import Refused

    (place.cwd / ".claude" / "settings.json").write_bytes(b"[" * 200_000)
    with pytest.raises(Refused, match="nested too deeply"):
        make()


def test_a_pipe_is_not_waited_for(make: Any, inline: Any, place: Any) -> None:
    os.mkfifo(place.cwd / ".claude" / "settings.json")
    assert inline(make()) == {}


def test_the_users_own_settings_flag_gives_way_or_is_refused(make: Any, place: Any) -> None:
    from barry_cli.adapters import Refused

    own = ("--settings", "mine.json")
    assert make(env={BASE: A}, extra_args=own).args[-2:] == own
    assert make(extra_args=own).warnings == ()
    place.user_sets(DISABLE_AUTOUPDATER="0")
    assert "DISABLE_AUTOUPDATER" in make(extra_args=own).warnings[0]
    place.folder_sets(**{BASE: C})
    with pytest.raises(Refused, match=BASE):
        make(extra_args=("--settings=mine.json",))
    # An endpoint does not hang on settings.
    assert make(extra_args=own, endpoint=endpoint()).env[MANAGED] == "1"


def test_a_password_in_a_proxys_address_is_in_no_argument(
    make: Any, inline: Any, place: Any
) -> None:
    place.folder_sets(HTTPS_PROXY=C)
    plan = make(env={"HTTPS_PROXY": "http://me:s3cret@proxy"})
    assert inline(plan) == {"HTTPS_PROXY": "http://me:s3cret@proxy"}
    assert "s3cret" not in " ".join(plan.args)


def test_a_session_inside_a_routed_one_keeps_its_login_at_home(make: Any, inline: Any) -> None:
    inside = make(env={BASE: A, MANAGED: "1"})
    assert inside.env[BASE] is None
    assert inside.env[MANAGED] is None
    assert inline(inside) == {}
    assert BASE in inside.warnings[0]
    keyed = make(env={BASE: A, MANAGED: "1", "ANTHROPIC_AUTH_TOKEN": KEY})
    assert BASE not in keyed.env
    assert inline(keyed) == {BASE: A}
