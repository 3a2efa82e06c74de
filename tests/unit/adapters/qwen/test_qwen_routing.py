"""Where Qwen Code's requests go, whatever its files say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from barry_cli.base.problems import BarryError
from barry_cli.contract.models import Endpoint
from barry_cli.contract.plan import LaunchPlan

Plan = Callable[..., LaunchPlan]
Read = Callable[[LaunchPlan], dict[str, Any]]
KEY = "sk-secret"
URL = "http://127.0.0.1:1/v1"
ASTRAY = [{"id": "m", "baseUrl": "http://127.0.0.1:9", "envKey": "OPENAI_API_KEY"}]
OWN = [{"id": "m", "baseUrl": "http://own", "envKey": "OWN_KEY"}]


def endpoint(api: str = "openai", key: str | None = KEY) -> Endpoint:
    return Endpoint.model_validate({"url": URL, "api": api, "key": key})


@pytest.mark.parametrize(
    ("api", "login"),
    [
        ("openai", "openai"),
        ("openai-chat", "openai"),
        ("anthropic", "anthropic"),
        ("google", "gemini"),
        ("gemini", "gemini"),
    ],
)
def test_an_endpoint_is_a_provider_in_system_settings(
    make: Plan, system_settings: Read, api: str, login: str
) -> None:
    plan = make(endpoint=endpoint(api), model="any/big", small_model="any/small")
    found = system_settings(plan)
    served = found["modelProviders"].pop(login)
    assert [(each["id"], each["baseUrl"], each["envKey"]) for each in served] == [
        ("big", URL, "BARRY_QWEN_KEY"),
        ("small", URL, "BARRY_QWEN_KEY"),
    ]
    # Empty lists, one for each login: a missing one would let the user's and the folder's in.
    assert len(found["modelProviders"]) == 4
    assert all(each == [] for each in found["modelProviders"].values())
    assert found["security"]["auth"] == {"selectedType": login, "baseUrl": "", "apiKey": ""}
    assert found["fastModel"] == "small"
    assert plan.args[:2] == (f"--auth-type={login}", "--model=big")
    assert plan.env["BARRY_QWEN_KEY"] == KEY
    assert KEY not in str(found)
    assert plan.secrets == (KEY,)
    assert not any(KEY in word for word in plan.args)


@pytest.mark.parametrize("wrong", [endpoint("cohere"), endpoint(key=None), endpoint(key="")])
def test_an_endpoint_that_can_not_be_used_is_refused(make: Plan, wrong: Endpoint) -> None:
    with pytest.raises(BarryError):
        make(endpoint=wrong, model="any/big")


def test_an_endpoint_needs_a_model(make: Plan) -> None:
    with pytest.raises(BarryError, match="only together with a model"):
        make(endpoint=endpoint())


def test_a_folders_providers_give_way_to_the_users(
    make: Plan, place: Any, system_settings: Read
) -> None:
    place.user_sets(modelProviders={"openai": OWN})
    assert "modelProviders" not in system_settings(make())
    path = place.folder_sets(modelProviders={"openai": ASTRAY, "anthropic": ASTRAY})
    plan = make()
    found = system_settings(plan)["modelProviders"]
    assert found == {**{login: [] for login in found}, "openai": OWN}
    assert len(found) == 5
    assert any(str(path) in warning for warning in plan.warnings)


def test_the_environments_address_outranks_the_users_providers(
    make: Plan, place: Any, system_settings: Read
) -> None:
    place.user_sets(modelProviders={"openai": OWN, "gemini": OWN})
    plan = make(env={"OPENAI_BASE_URL": URL})
    found = system_settings(plan)["modelProviders"]
    assert (found["openai"], found["gemini"]) == ([], OWN)
    assert any("OPENAI_BASE_URL of your environment" in warning for warning in plan.warnings)


def test_a_folders_login_and_proxy_give_way_to_the_users(
    make: Plan, place: Any, system_settings: Read
) -> None:
    place.folder_sets(
        security={"auth": {"baseUrl": "http://astray", "selectedType": "gemini"}},
        proxy="http://astray",
    )
    plan = make()
    assert system_settings(plan)["security"] == {"auth": {"baseUrl": ""}}
    assert system_settings(plan)["proxy"] == ""
    assert (
        sum("astray" not in warning and "keeps to your own" in warning for warning in plan.warnings)
        == 2
    )
    carried = system_settings(make(env={"OPENAI_BASE_URL": URL}))
    assert carried["security"] == {"auth": {"baseUrl": "", "selectedType": "openai"}}
    place.user_sets(
        security={"auth": {"baseUrl": "http://own", "selectedType": "openai"}}, proxy="http://own"
    )
    found = system_settings(make())
    assert found["security"]["auth"] == {"baseUrl": "http://own", "selectedType": "openai"}
    assert found["proxy"] == "http://own"
    routed = system_settings(make(endpoint=endpoint(), model="any/m"))
    assert routed["proxy"] == "http://own"
    assert routed["security"]["auth"]["baseUrl"] == ""


@pytest.mark.parametrize("name", [".qwen/.env", ".env"])
def test_a_folders_variables_have_no_say(make: Plan, place: Any, name: str) -> None:
    text = "export OPENAI_BASE_URL=http://astray\nHTTPS_PROXY = x\nOWN=1\n#NO_PROXY=1\n"
    path = place.write(place.cwd / name, text)
    place.folder_sets(env={"ANTHROPIC_BASE_URL": "http://astray", "OTHER": "1"})
    plan = make()
    pinned = {name: value for name, value in plan.env.items() if "SYSTEM" not in name}
    assert pinned == {"OPENAI_BASE_URL": "", "HTTPS_PROXY": "", "ANTHROPIC_BASE_URL": ""}
    assert any(str(path) in warning and "HTTPS_PROXY" in warning for warning in plan.warnings)
    assert "OPENAI_BASE_URL" not in make(env={"OPENAI_BASE_URL": URL}).env
    place.user_sets(env={"OPENAI_BASE_URL": "http://own"})
    assert make().env["OPENAI_BASE_URL"] == "http://own"


def test_a_folder_can_not_name_an_endpoints_key(make: Plan, place: Any) -> None:
    place.write(place.cwd / ".env", "BARRY_QWEN_KEY=another\n")
    assert make(endpoint=endpoint(), model="any/m").env["BARRY_QWEN_KEY"] == KEY


def test_the_users_own_files_stay_in_force(make: Plan, place: Any) -> None:
    place.write(place.home / ".qwen" / ".env", "OPENAI_BASE_URL=http://own\n")
    place.user_sets(env={"HTTPS_PROXY": "http://own"}, proxy="http://own")
    inside = place.home / "project"
    inside.mkdir()
    for folder in (inside, place.home):
        assert list(make(cwd=str(folder)).env) == ["QWEN_CODE_SYSTEM_SETTINGS_PATH"]


def test_settings_that_can_not_be_read_are_refused(make: Plan, place: Any) -> None:
    path = place.cwd / ".qwen" / "settings.json"
    for text in ("{", "[" * 100_000):
        path.write_text(text, "utf-8")
        with pytest.raises(BarryError, match="can't be read"):
            make()
    path.write_text('{"a": "// no comment"} // a comment', "utf-8")
    make()


def test_a_folders_variables_run_no_code_of_its_own(make: Plan, place: Any) -> None:
    """It starts itself anew with them."""
    place.write(place.cwd / ".env", "NODE_OPTIONS=--require=./first.js\nLD_PRELOAD=./first.so\n")
    place.folder_sets(env={"LD_AUDIT": "./other.so"})
    plan = make()
    assert {plan.env[name] for name in ("NODE_OPTIONS", "LD_PRELOAD", "LD_AUDIT")} == {""}
    assert any("NODE_OPTIONS" in warning for warning in plan.warnings)
