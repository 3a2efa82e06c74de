"""Where Gemini CLI's requests go, whatever its files say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from barry_cli.base.problems import BarryError
from barry_cli.contract.models import Endpoint
from barry_cli.contract.plan import LaunchPlan

Plan = Callable[..., LaunchPlan]
KEY = "sk-secret"
URL = "http://127.0.0.1:1"
ASTRAY = {"httpOptions": {"baseUrl": "http://127.0.0.1:9"}}


def endpoint(api: str = "google", key: str | None = KEY) -> Endpoint:
    return Endpoint.model_validate({"url": URL, "api": api, "key": key})


@pytest.mark.parametrize("api", ["google", "gemini"])
def test_an_endpoint_travels_in_the_environment(make: Plan, api: str) -> None:
    plan = make(endpoint=endpoint(api), model="other/big-one")
    assert plan.env == {"GOOGLE_GEMINI_BASE_URL": URL, "GEMINI_API_KEY": KEY}
    assert plan.secrets == (KEY,)
    assert plan.args[0] == "--model=big-one"
    assert not any(KEY in word for word in plan.args)


@pytest.mark.parametrize("wrong", [endpoint("openai"), endpoint(key=None), endpoint(key="")])
def test_an_endpoint_that_can_not_be_used_is_refused(make: Plan, wrong: Endpoint) -> None:
    with pytest.raises(BarryError):
        make(endpoint=wrong)


def test_the_users_own_variables_do_not_speak_beside_an_endpoint(make: Plan) -> None:
    env = {
        "GOOGLE_VERTEX_BASE_URL": "http://own",
        "GEMINI_CLI_CUSTOM_HEADERS": "Authorization: own",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "HTTPS_PROXY": "http://proxy",
    }
    plan = make(endpoint=endpoint(), env=env)
    assert {name: plan.env.get(name) for name in env} == {
        "GOOGLE_VERTEX_BASE_URL": "",
        "GEMINI_CLI_CUSTOM_HEADERS": "",
        "GOOGLE_GENAI_USE_VERTEXAI": "",
        "HTTPS_PROXY": None,
    }


@pytest.mark.parametrize("name", [".gemini/.env", ".env"])
def test_a_folders_variables_have_no_say(make: Plan, place: Any, name: str) -> None:
    text = "export GOOGLE_GEMINI_BASE_URL=http://astray\nHTTPS_PROXY = x\nOWN=1\n#NO_PROXY=1\n"
    path = place.write(place.cwd / name, text)
    plan = make(env={"GEMINI_API_KEY": KEY})
    assert plan.env == {"GOOGLE_GEMINI_BASE_URL": "", "HTTPS_PROXY": ""}
    assert any(str(path) in warning and "HTTPS_PROXY" in warning for warning in plan.warnings)
    carried = make(env={"GOOGLE_GEMINI_BASE_URL": URL, "HTTPS_PROXY": "http://proxy"})
    assert carried.env == {}
    assert make(endpoint=endpoint()).env["GOOGLE_GEMINI_BASE_URL"] == URL


def test_a_file_further_up_counts_too_and_the_nearest_one_alone(make: Plan, place: Any) -> None:
    place.write(place.cwd.parent / ".env", "GOOGLE_VERTEX_BASE_URL=x\n")
    assert make().env == {"GOOGLE_VERTEX_BASE_URL": ""}
    place.write(place.cwd / ".env", "OWN=1\n")
    assert make().env == {}


def test_the_users_own_file_stays_in_force(make: Plan, place: Any) -> None:
    place.write(place.home / ".gemini" / ".env", "GOOGLE_GEMINI_BASE_URL=http://own\n")
    inside = place.home / "project"
    inside.mkdir()
    assert make(cwd=str(inside)).env == {}
    assert make(cwd=str(place.home)).env == {}


def test_a_folders_addresses_are_refused(make: Plan, place: Any) -> None:
    path = place.folder_sets(modelConfigs={"customAliases": {"m": {"modelConfig": ASTRAY}}})
    with pytest.raises(BarryError, match="httpOptions"):
        make()
    path.write_text('{"modelConfigs": {"aliases": {}} /* fine */}', "utf-8")
    make()


def test_the_users_addresses_are_refused_only_beside_another(make: Plan, place: Any) -> None:
    place.user_sets(modelConfigs={"customOverrides": [{"modelConfig": ASTRAY}]})
    make()
    for routed in ({"endpoint": endpoint()}, {"env": {"GOOGLE_GEMINI_BASE_URL": URL}}):
        with pytest.raises(BarryError, match="httpOptions"):
            make(**routed)


def test_settings_that_can_not_be_read_are_refused(make: Plan, place: Any) -> None:
    path = place.cwd / ".gemini" / "settings.json"
    for text in ("{", "[" * 100_000):
        path.write_text(text, "utf-8")
        with pytest.raises(BarryError, match="can't be read"):
            make()
    path.write_text('{"a": "// no comment"} // a comment', "utf-8")
    make()


def _by(kind: str) -> dict[str, Any]:
    return {"security": {"auth": {"selectedType": kind}}}


def test_a_login_of_another_kind_is_refused_beside_an_endpoint(make: Plan, place: Any) -> None:
    make(endpoint=endpoint())
    place.user_sets(**_by("gemini-api-key"))
    assert not any("ask how" in warning for warning in make(endpoint=endpoint()).warnings)
    place.folder_sets(**_by("vertex-ai"))
    with pytest.raises(BarryError, match="vertex-ai"):
        make(endpoint=endpoint())
    with pytest.raises(BarryError, match="vertex-ai"):
        make(env={"GOOGLE_GEMINI_BASE_URL": URL})
    make()


def test_where_no_login_is_chosen_the_person_is_told(make: Plan) -> None:
    assert any("Use Gemini API Key" in warning for warning in make(endpoint=endpoint()).warnings)


def test_the_users_own_login_is_told_beside_an_address_of_the_environment(
    make: Plan, place: Any
) -> None:
    place.user_sets(**_by("oauth-personal"))
    plan = make(env={"GOOGLE_GEMINI_BASE_URL": URL})
    assert any("oauth-personal" in warning for warning in plan.warnings)


def test_system_settings_choose_the_login_where_they_are_taken(
    make: Plan, root: Any, system_settings: Callable[[LaunchPlan], dict[str, Any]]
) -> None:
    root.user_sets(**_by("oauth-personal"))
    plan = make(endpoint=endpoint())
    assert system_settings(plan)["security"] == _by("gemini-api-key")["security"]
    root.user_sets(**_by("gemini-api-key"))
    assert make(endpoint=endpoint()).tmp_dirs == ()


def test_a_folders_variables_run_no_code_of_its_own(make: Plan, place: Any) -> None:
    place.write(place.cwd / ".env", "NODE_OPTIONS=--require=./first.js\nLD_PRELOAD=./first.so\n")
    plan = make()
    assert {plan.env[name] for name in ("NODE_OPTIONS", "LD_PRELOAD")} == {""}
    assert any("NODE_OPTIONS" in warning for warning in plan.warnings)
