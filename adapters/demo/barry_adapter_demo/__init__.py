"""demo, a small harness of Barry's own: a scripted model, real tools, no account, no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_demo.declared import (
    GUARANTEES,
    HOSTED_GUARANTEES,
    ID,
    INSTRUMENTED_GUARANTEES,
    LABEL,
    NATIVE,
    NATIVE_TOOLS,
    OPTIONS,
    VERSION,
)
from barry_adapter_demo.launch import MAIN, plan
from barry_adapter_demo.transcript import DemoTranscripts
from barry_cli.adapters import (
    Adapter,
    Binary,
    Evidence,
    HarnessCapabilities,
    Install,
    LaunchMode,
    Login,
    OfferedModel,
    Pin,
    Requirements,
    SessionMode,
    define_adapter,
)

if TYPE_CHECKING:
    from barry_cli.adapters import LaunchPlan, StartEngine
    from barry_cli.sessions import ContinuationHarness, Session, SessionConfig


async def _plan_instrumented(config: SessionConfig) -> LaunchPlan:
    from barry_adapter_demo.instrumented import plan as plan_instrumented

    return await plan_instrumented(config)


async def _start(config: SessionConfig, start_engine: StartEngine) -> Session:
    # Only who drives it needs the driver.
    from barry_adapter_demo.hosted import start

    return await start(config)


async def _open_continuation(
    config: SessionConfig, start_engine: StartEngine
) -> ContinuationHarness:
    from barry_adapter_demo.hosted import open_continuation

    return await open_continuation(config)


adapter = define_adapter(
    Adapter(
        id=ID,
        label=LABEL,
        capabilities=HarnessCapabilities(
            endpoint="fixed",
            mcp_transports=("stdio",),
            skills_mount="plugin",
            system_prompt_format="preset-append",
            tool_denial="native",
            without_key="unauthenticated",
        ),
        requirements=Requirements(
            binary=Binary(
                command="python3",
                version_args=(MAIN, "--version"),
                version_pattern=r"^demo-harness (\d+\.\d+\.\d+)",
                pin=Pin(version=VERSION, enforced_by="it comes with the adapter"),
                install=Install(fallback="it comes with the adapter"),
            ),
            environment=("BARRY_DEMO_HOME", "BARRY_DEMO_SCRIPT", "BARRY_DEMO_BEND"),
            login=Login(needed=False),
        ),
        native_tools=NATIVE_TOOLS,
        default_mode="guest",
        modes={
            "guest": LaunchMode(
                guarantees=GUARANTEES,
                verified_on=VERSION,
                build="bundled",
                native=NATIVE,
                platforms=("linux",),
                evidence=Evidence(
                    check="checks:guest",
                    proves="the TUI answers, a denied tool has no effect and an allowed one has, "
                    "the reserved conversation is the one that is kept, and it can be read",
                ),
                plan=plan,
            ),
            "instrumented": LaunchMode(
                guarantees=INSTRUMENTED_GUARANTEES,
                verified_on=VERSION,
                build="bundled",
                native=NATIVE,
                platforms=("linux",),
                ruled=("shell", "write", "read", "fetch", "mcp", "subagent"),
                evidence=Evidence(
                    check="instrumented_checks:instrumented",
                    proves="calls of every kind are ruled on: a denied one has no effect and "
                    "Barry's sentence reaches the model, an allowed one has; a message wakes it "
                    "when it is idle, waits while it is busy, and its transcript shows both",
                ),
                plan=_plan_instrumented,
            ),
            "hosted": SessionMode(
                guarantees=HOSTED_GUARANTEES,
                verified_on=VERSION,
                structured_output="prompted",
                native=NATIVE,
                platforms=("linux",),
                evidence=Evidence(
                    check="hosted_checks:hosted",
                    proves="it asks before each call: a denied one has no effect and the reason "
                    "reaches the model, an allowed one has; a turn is cut short; the conversation "
                    "goes on, and a copy of it leaves it as it was; tokens are counted",
                ),
                start=_start,
                open_continuation=_open_continuation,
            ),
        },
        bag=".",
        offered_models=(
            OfferedModel(id="demo/echo", label="Echo"),
            OfferedModel(id="demo/shout", label="Shout"),
        ),
        options=OPTIONS,
        transcript=DemoTranscripts(),
    )
)
