"""Every field of a configuration becomes arguments, or a warning."""

from __future__ import annotations

import pytest
from codex_samples import ID, Plan, Record, setting

from barry_adapter_codex import adapter
from barry_adapter_codex.problems import LaunchRefused
from barry_adapter_codex.tools import NATIVE_TOOLS, SWITCHES, UNCONTROLLED
from barry_cli.contract.models import Endpoint
from barry_cli.contract.session import Resume

BASE = ("--no-daemon", "-c", "check_for_update_on_startup=false")
KEY = "sk-secret-of-an-endpoint"
ENDPOINT = Endpoint.model_validate({"url": "http://127.0.0.1:9/v1", "api": "openai", "key": KEY})


def test_a_plain_launch_changes_next_to_nothing(plan: Plan) -> None:
    made = plan()
    assert made.command == "codex"
    assert made.args == BASE
    assert dict(made.env) == {}
    assert made.warnings == ()
    assert made.tmp_dirs == ()
    assert made.harness_session_id is None
    assert made.discover_harness_session_id is not None
    assert made.guarantees == adapter.modes["guest"].guarantees  # type: ignore[union-attr]
    assert made.lowered == {}


def test_the_users_own_arguments_come_last(plan: Plan) -> None:
    made = plan(extra_args=("--search", "do it"), model="openai/gpt-5.5")
    assert made.args == (*BASE, "-m", "gpt-5.5", "--search", "do it")


def test_another_vendors_model_needs_an_endpoint(plan: Plan) -> None:
    made = plan(model="acme/large")
    assert made.args == BASE
    assert "no endpoint for acme/large" in made.warnings[0]
    routed = plan(model="acme/large", endpoint=ENDPOINT)
    assert routed.args[3:5] == ("-m", "large")


def test_an_endpoint_is_a_provider_with_its_key_in_the_environment(plan: Plan) -> None:
    made = plan(endpoint=ENDPOINT)
    assert setting(made, "model_provider") == "barry"
    assert setting(made, "model_providers.barry") == {
        "name": "Barry",
        "base_url": "http://127.0.0.1:9/v1",
        "wire_api": "responses",
        "requires_openai_auth": False,
        "supports_websockets": False,
        "request_max_retries": 2,
        "stream_max_retries": 2,
        "env_key": "BARRY_CODEX_KEY",
    }
    assert "unbounded_connection_retries" in made.args
    assert made.env == {"BARRY_CODEX_KEY": KEY}
    assert made.secrets == (KEY,)
    assert KEY not in " ".join(made.args)
    assert setting(made, "shell_environment_policy.exclude") == ["BARRY_CODEX_KEY"]


def test_without_an_endpoint_codex_retries_as_it_likes(plan: Plan) -> None:
    assert "unbounded_connection_retries" not in plan().args


def test_a_keyless_endpoint_names_no_variable(plan: Plan) -> None:
    made = plan(endpoint=Endpoint(url="http://127.0.0.1:9/v1", api="openai"))
    provider = setting(made, "model_providers.barry")
    assert "env_key" not in provider
    assert provider["requires_openai_auth"] is False
    assert dict(made.env) == {}


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.tools[0])
def test_a_denied_tool_takes_its_group_away(plan: Plan, switch: object) -> None:
    for tool in switch.tools:  # type: ignore[attr-defined]
        made = plan(denied_tools=(tool,))
        if switch.server is not None:  # type: ignore[attr-defined]
            table = setting(made, "mcp_servers")
            assert table["codex_tui"]["enabled"] is False
        else:
            assert made.args == (*BASE, *switch.args)  # type: ignore[attr-defined]
        assert made.warnings == ()
        assert made.guarantees.gating == "static"


@pytest.mark.parametrize("tool", UNCONTROLLED)
def test_a_tool_that_stays_is_said_and_takes_the_promise_back(plan: Plan, tool: str) -> None:
    made = plan(denied_tools=(tool,))
    assert f"Codex keeps its tool {tool}" in made.warnings[0]
    assert made.guarantees.gating == "none"
    assert made.lowered == {"gating": f"Codex keeps {tool}"}


def test_what_is_not_granted_is_denied(plan: Plan) -> None:
    made = plan(allowed_native_tools=("view_image", "apply_patch"))
    assert "shell_tool" in made.args
    assert "view_image" not in made.args
    assert "Codex keeps its tool apply_patch" not in " ".join(made.warnings)


def test_every_tool_is_somewhere_in_the_table() -> None:
    assert len(set(NATIVE_TOOLS)) == len(NATIVE_TOOLS)


@pytest.mark.parametrize(
    ("options", "args"),
    [
        ({"sandbox": "read-only"}, ("-s", "read-only")),
        ({"approvalPolicy": "never"}, ("-a", "never")),
        ({"search": True}, ("-c", 'web_search="live"')),
        ({"search": False}, ("-c", 'web_search="disabled"')),
        ({"reasoningEffort": "high"}, ("-c", 'model_reasoning_effort="high"')),
    ],
)
def test_options(plan: Plan, options: dict[str, object], args: tuple[str, ...]) -> None:
    assert plan(options=options).args == (*BASE, *args)


def test_a_denied_search_wins_over_the_option(plan: Plan) -> None:
    made = plan(options={"search": True}, denied_tools=("web_search",))
    assert setting(made, "web_search") == "disabled"
    assert "option search" in made.warnings[0]


def test_a_system_prompt_is_added_to_codexs_own(plan: Plan) -> None:
    prompt = 'Say "yes",\n\tthen \N{EN DASH} stop = \\now\x00\x7f'
    assert setting(plan(system_prompt=prompt), "developer_instructions") == prompt


@pytest.mark.parametrize(("prompt", "why"), [("x" * 140_000, "bytes"), ("\ud800", "no text")])
def test_a_system_prompt_that_no_argument_can_hold_is_refused(
    plan: Plan, prompt: str, why: str
) -> None:
    with pytest.raises(LaunchRefused, match=why):
        plan(system_prompt=prompt)


def test_extra_roots(plan: Plan) -> None:
    assert plan(project_roots=("/a", "/b c")).args == (
        *BASE,
        "--add-dir",
        "/a",
        "--add-dir",
        "/b c",
    )
    closed = plan(project_roots=("/a",), options={"sandbox": "read-only"})
    assert "read-only" in closed.warnings[0]


def test_resuming_names_the_conversation_after_the_flags(plan: Plan) -> None:
    made = plan(resume=Resume(harness_session_id=ID), extra_args=("go on",))
    assert made.args == ("resume", *BASE, ID, "go on")
    assert made.harness_session_id == ID
    assert made.discover_harness_session_id is None


def test_resuming_the_last_one_or_a_picked_one(plan: Plan) -> None:
    last = plan(resume=Resume(last=True))
    assert last.args == ("resume", *BASE, "--last")
    picked = plan(resume=Resume(picker=True))
    assert picked.args == ("resume", *BASE)
    for made in (last, picked):
        assert made.harness_session_id is None
        assert made.discover_harness_session_id is not None


def test_a_name_is_resumed_too_and_its_id_is_looked_for(plan: Plan) -> None:
    made = plan(resume=Resume(harness_session_id="my-talk"))
    assert made.args == ("resume", *BASE, "my-talk")
    assert made.harness_session_id is None
    assert made.discover_harness_session_id is not None


def test_an_id_that_would_be_an_option_is_refused(plan: Plan) -> None:
    with pytest.raises(LaunchRefused, match="no id"):
        plan(resume=Resume(harness_session_id="--dangerously-bypass-approvals-and-sandbox"))


def test_a_conversation_stays_with_its_provider(plan: Plan, record: Record) -> None:
    resume = Resume(harness_session_id=ID)
    record(provider="openai")
    assert plan(resume=resume).harness_session_id == ID
    with pytest.raises(LaunchRefused, match="provider openai"):
        plan(resume=resume, endpoint=ENDPOINT)
    record(provider="barry")
    assert plan(resume=resume, endpoint=ENDPOINT).harness_session_id == ID
    with pytest.raises(LaunchRefused, match="another vendor's model"):
        plan(resume=resume)


@pytest.mark.parametrize(
    "fields",
    [
        {"small_model": "openai/small"},
        {"plugin_dirs": ("/plugins",)},
        {"ephemeral": True},
        {"max_turns": 3},
        {"telemetry_endpoint": "http://127.0.0.1:1"},
        {"telemetry_headers": {"a": "b"}},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_what_codex_has_no_way_for_is_said(plan: Plan, fields: dict[str, object]) -> None:
    made = plan(**fields)
    assert made.args == BASE
    assert "is left out" in made.warnings[0]
