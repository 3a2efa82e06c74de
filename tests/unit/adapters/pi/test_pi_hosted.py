"""How pi is started to be driven: its command line, what is left out, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from barry_adapter_pi import adapter
from barry_adapter_pi.declared import HOSTED_NATIVE, NATIVE_TOOLS
from barry_adapter_pi.hosted import GATE, _warnings, agent
from barry_cli.agents import AgentFault, AgentInput, Command, Continuation, Variables
from barry_cli.base.problems import BarryError
from barry_cli.contract.models import Endpoint
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.session import EgressPolicy, Resume, SessionConfig, StdioMcpServer
from barry_cli.headless.capabilities import PermissionPolicy
from barry_cli.headless.conversations import Place, StoredConversation

KNOWN = "01a22dff-289a-7356-a7ee-1fe253ccdd1b"
KEY = "sk-made-up-0123456789"
HELD = ["--mode", "rpc", "--extension", str(GATE), "--no-extensions"]


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def config(home: Path, cwd: Path) -> Any:
    """A session's configuration with every tool granted."""

    def config(**given: Any) -> SessionConfig:
        env = {"HOME": str(home), **given.pop("env", {})}
        asked = SessionConfig(
            **{
                "session_id": "s",
                "cwd": str(cwd),
                "env": env,
                "allowed_native_tools": NATIVE_TOOLS,
                **given,
            }
        )
        return configure_harness_session(asked, NATIVE_TOOLS, HOSTED_NATIVE)

    return config


def command(config: SessionConfig, **asked: Any) -> Command:
    return agent(config).request(AgentInput(text="a prompt", config=config, home="/own", **asked))


def after(made: Command, flag: str) -> list[str]:
    """What follows a flag, each time that it is there."""
    words = list(made.args)
    return [words[at + 1] for at, word in enumerate(words) if word == flag]


def keep(home: Path, cwd: Path, text: str = "") -> Path:
    """A conversation of the folder's, where pi keeps it."""
    safe = str(cwd).lstrip("/").replace("/", "-")
    path = home / ".pi" / "agent" / "sessions" / f"--{safe}--" / f"2026_{KNOWN}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    header = {"type": "session", "id": KNOWN, "cwd": str(cwd)}
    path.write_text(f"{json.dumps(header)}\n{text}", "utf-8")
    return path


# --- what it is held to ---


def test_every_session_has_the_gate_and_no_other_extension(config: Any) -> None:
    made = command(config())
    assert list(made.args) == HELD
    assert made.env == {"PI_SKIP_VERSION_CHECK": "1"}
    assert made.stdin is None


def test_the_gate_is_in_the_package() -> None:
    assert GATE.is_file()
    assert '"tool_call"' in GATE.read_text("utf-8")


def test_denials_of_the_session_and_of_its_policy_both_count(config: Any) -> None:
    policy = PermissionPolicy(denied_tools=("write",))
    made = command(config(denied_tools=("bash",)), policy=policy)
    assert after(made, "--tools") == ["read,edit,grep,find,ls"]
    assert "--no-tools" in command(config(denied_tools=NATIVE_TOOLS)).args


def test_arguments_and_extensions_of_the_users_own_are_refused(config: Any) -> None:
    for asked in ({"extra_args": ("--no-tools",)}, {"options": {"extensions": True}}):
        with pytest.raises(AgentFault) as refused:
            command(config(**asked))
        assert refused.value.code == "configuration"
    assert command(config(options={"extensions": False})).args


def test_extensions_that_are_left_out_are_told_of(config: Any, cwd: Path) -> None:
    (cwd / ".pi" / "extensions").mkdir(parents=True)
    assert _warnings(config()) == ()
    (cwd / ".pi" / "extensions" / "mine.ts").touch()
    (told,) = _warnings(config())
    assert "extensions are left out" in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"shellPath": "./sh"}', "sets shellPath"),
        ('{"shellCommandPrefix": "x", "npmCommand": ["y"]}', "sets shellCommandPrefix, npmCommand"),
        ('{"packages": ["npm:x"]}', "sets packages"),
        ('{"__proto__": {"shellPath": "./sh"}}', "sets __proto__"),
        ('{"\\u0073hellPath": "./sh"}', "sets shellPath"),
        # pi may read what can't be read here.
        ('{"theme": "\udcff", "shellPath": "./sh"}', "can't be read"),
        ('{"theme": ' + "[" * 100_000 + "]" * 100_000 + ', "shellPath": "./sh"}', "can't be read"),
        ("{", "can't be read"),
    ],
)
def test_a_folder_that_names_programs_is_refused(
    config: Any, cwd: Path, text: str, said: str
) -> None:
    (cwd / ".pi").mkdir()
    (cwd / ".pi" / "settings.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(AgentFault, match=said) as refused:
        command(config())
    assert refused.value.code == "configuration"
    assert refused.value.hint


@pytest.mark.parametrize("text", ['{"theme": "dark", "skills": ["./x"]}', "[]", "{}"])
def test_other_settings_of_a_folder_are_its_own(config: Any, cwd: Path, text: str) -> None:
    (cwd / ".pi").mkdir()
    (cwd / ".pi" / "settings.json").write_text(text, "utf-8")
    assert list(command(config()).args) == HELD


# --- secrets ---


def test_a_key_is_in_the_environment_alone(config: Any) -> None:
    endpoint = Endpoint.model_validate({"url": "http://there", "api": "anthropic", "key": KEY})
    made = command(config(endpoint=endpoint, model="v/m"))
    assert KEY in made.env.values()
    assert KEY not in " ".join(made.args)
    assert len(after(made, "--extension")) == 2  # the gate, and what knows the endpoint


def test_an_endpoint_that_cannot_be_used_is_refused_before_anything_runs(config: Any) -> None:
    with pytest.raises(BarryError):
        command(config(endpoint=Endpoint(url="http://there", api="cohere"), model="v/m"))


def test_a_system_prompt_is_in_a_file_of_the_sessions_own(config: Any) -> None:
    asked = config(system_prompt="Be brief.")
    assert after(command(asked), "--append-system-prompt") == ["/own/system-prompt.md"]
    plan = agent(asked).configuration
    assert plan is not None
    (file,) = plan(Variables({})).files
    assert (file.path, file.text) == ("system-prompt.md", "Be brief.")  # type: ignore[union-attr] # it is generated


# --- conversations ---


def test_a_conversation_goes_on_by_its_file_or_as_a_copy(
    config: Any, home: Path, cwd: Path
) -> None:
    path = keep(home, cwd)
    assert after(command(config()), "--session") == []
    made = command(config(), continuation=Continuation(KNOWN))
    assert (after(made, "--session"), after(made, "--fork")) == ([str(path)], [])
    made = command(config(), continuation=Continuation(KNOWN, fork=True))
    assert (after(made, "--session"), after(made, "--fork")) == ([], [str(path)])


def test_one_that_is_gone_or_another_folders_is_lost(
    config: Any, home: Path, tmp_path: Path
) -> None:
    """By an id alone pi would look through every folder, and ask a question."""
    keep(home, tmp_path / "other")
    with pytest.raises(AgentFault, match="conversation_lost") as lost:
        command(config(), continuation=Continuation(KNOWN))
    assert lost.value.code == "session"


def test_an_ephemeral_session_has_nothing_to_go_on_with(config: Any) -> None:
    asked = config(ephemeral=True)
    assert "--no-session" in command(asked).args
    assert agent(asked).resumable is False
    assert agent(asked).storage is None
    assert agent(config()).resumable is True


def test_a_conversation_is_taken_to_another_folder(
    config: Any, home: Path, cwd: Path, tmp_path: Path
) -> None:
    storage = agent(config()).storage
    assert storage is not None
    env = {"HOME": str(home)}
    native = keep(home, cwd, json.dumps({"type": "message", "text": f"it is {KEY}"}) + "\n")
    here = Place(cwd=str(cwd), env=env, secrets=(KEY,))
    assert storage.locate(KNOWN, here) == native
    assert storage.locate(KNOWN.replace("0", "1"), here) is None
    record = storage.capture(KNOWN, here, tmp_path / "kept")
    assert KEY not in Path(record.path).read_text("utf-8")
    there = Place(cwd=str(tmp_path / "elsewhere"), env=env)
    restored = storage.restore(record, there)
    assert storage.locate(KNOWN, there) == restored
    with pytest.raises(AgentFault):
        storage.restore(StoredConversation(store="other", id=KNOWN, root="/", path="/x"), there)


# --- the rest of a session ---

VALUES: dict[str, Any] = {
    "allowed_native_tools": ("read",),
    "denied_tools": ("bash",),
    "ephemeral": True,
    "model": "anthropic/claude-x",
    "options": {"thinking": "low"},
    "plugin_dirs": ("/plugins",),
    "system_prompt": "Be brief.",
}
# Field -> a value that asks for something, and a word of the warning that it gives.
NOT_HAD: dict[str, tuple[Any, str]] = {
    "mcp_servers": ({"one": StdioMcpServer(command="server")}, "MCP servers"),
    "egress_sandbox": (EgressPolicy(allow_domains=()), "an egress sandbox"),
    "project_roots": (("/other",), "no list of folders"),
    "small_model": ("anthropic/claude-y", "background calls"),
    "telemetry_endpoint": ("http://127.0.0.1:1", "a telemetry endpoint"),
    "telemetry_headers": ({"a": "b"}, "telemetry headers"),
}
# The driver and the dialogue deal with these; pi has no servers to be strict about.
ELSEWHERE = {
    "decide", "executor", "resume", "extra_args", "instrument", "max_turns", "strict_mcp_config",
}  # fmt: skip


def test_every_field_of_a_configuration_is_thought_of() -> None:
    names = {each.name for each in fields(SessionConfig)} - {"session_id", "cwd", "env"}
    assert names == set(VALUES) | set(NOT_HAD) | ELSEWHERE | {"endpoint"}


@pytest.mark.parametrize("name", VALUES)
def test_each_field_changes_the_command(config: Any, name: str) -> None:
    plain, asked = command(config()), command(config(**{name: VALUES[name]}))
    assert plain.args != asked.args
    assert _warnings(config(**{name: VALUES[name]})) == ()


@pytest.mark.parametrize("name", NOT_HAD)
def test_what_cannot_be_had_is_said(config: Any, name: str) -> None:
    value, word = NOT_HAD[name]
    (told,) = _warnings(config(**{name: value}))
    assert word in told


def test_what_is_dealt_with_elsewhere_is_not_warned_about(config: Any) -> None:
    async def decide(request: object) -> Any: ...

    resume = Resume(harness_session_id=KNOWN)
    asked = config(decide=decide, resume=resume, max_turns=3, strict_mcp_config=True)
    assert _warnings(asked) == ()


def test_a_launch_does_not_import_the_driver() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import barry_adapter_pi; "
        "sys.exit(any(name.startswith('barry_cli.headless') for name in sys.modules))"
    )
    package = Path(__file__).resolve().parents[4] / "adapters" / "pi"
    assert subprocess.run([sys.executable, "-c", code, str(package)], check=False).returncode == 0


def test_the_declaration_of_the_mode_holds_up() -> None:
    mode = adapter.modes["hosted"]
    assert mode is not None
    assert mode.structured_output == "prompted"
    assert mode.guarantees.gating == "per-call"
    assert mode.native is not None
    assert mode.native.grantable == NATIVE_TOOLS
    assert mode.native.uncontrolled is None or not mode.native.uncontrolled
