"""What each part of a session becomes on Claude Code's command line, whoever drives it.

Each flag is one word, ``--flag=value``: the flags that take several values would swallow what
the user types after them.
"""

from __future__ import annotations

import json

from barry_adapter_claude.declared import LABEL, OPTION_FLAGS, VENDOR
from barry_cli.adapters import PlanDraft, Refused

_LONGEST_ARGUMENT = 100_000
"""In characters. Linux takes 128 KiB in one argument."""


def model(draft: PlanDraft, held: dict[str, str]) -> None:
    """The models; what must stand against the settings files goes into ``held``.

    Raises Refused for one that can't be reached.
    """
    config = draft.config
    main = _name_of(config.model, draft)
    small = _name_of(config.small_model, draft)
    if small and config.endpoint and _vendor(config.small_model) != _vendor(config.model):
        draft.warn(f"{config.small_model} is not reached at {config.endpoint.url}: it is left out")
        small = None
    variables = {}
    if main:
        draft.args.append(f"--model={main}")
        # Else the build puts its newest model in the place of an older one that was asked for.
        variables["CLAUDE_CODE_DISABLE_LEGACY_MODEL_REMAP"] = "1"
    if small:
        variables["ANTHROPIC_SMALL_FAST_MODEL"] = small
        variables["ANTHROPIC_DEFAULT_HAIKU_MODEL"] = small
    if config.endpoint is None:
        held.update(variables)
        return
    if main:
        # The endpoint knows nothing of the names behind Claude Code's own short ones.
        for family in ("FABLE", "OPUS", "SONNET", "HAIKU"):
            variables.setdefault(f"ANTHROPIC_DEFAULT_{family}_MODEL", main)
    draft.env.update(variables)


def _vendor(model: str | None) -> str | None:
    return model.partition("/")[0] if model else None


def _name_of(model: str | None, draft: PlanDraft) -> str | None:
    """A model as Claude Code spells it: without its vendor."""
    if model is None:
        return None
    vendor, _, name = model.partition("/")
    if not (vendor and name):
        raise Refused(
            f"a model is written vendor/model, and {model!r} is not",
            hint=f"name one of its vendor's models, as {VENDOR}/MODEL",
        )
    if vendor != VENDOR and draft.config.endpoint is None:
        raise Refused(
            f"{LABEL} reaches {model} only through an endpoint that speaks {VENDOR}'s API, and "
            "none was given",
            hint=f"install an adapter that carries {vendor}, or name a model as {VENDOR}/MODEL",
        )
    return name


def prompt(draft: PlanDraft) -> None:
    """What is added to Claude Code's own system prompt."""
    text = draft.config.system_prompt
    if text is None:
        return
    if len(text.encode()) < _LONGEST_ARGUMENT:
        draft.args.append(f"--append-system-prompt={text}")
    else:
        draft.args.append(f"--append-system-prompt-file={draft.file('system-prompt.md', text)}")
    if draft.config.resume is not None:
        # A conversation goes on with the prompt that it began with, unless told not to.
        draft.args.append("--system-prompt-snapshot=off")


def servers(draft: PlanDraft) -> None:
    """MCP servers; where they carry secrets, in a private file."""
    config = draft.config
    strict = config.strict_mcp_config
    # Without the mark their tools are hidden behind a search, which a model may not think of.
    wanted = {
        name: {**server.model_dump(mode="json"), "alwaysLoad": True}
        for name, server in config.mcp_servers.items()
    }
    if wanted:
        text = json.dumps({"mcpServers": wanted})
        secrets = [
            value
            for server in wanted.values()
            for value in (server.get("env") or server.get("headers") or {}).values()
        ]
        if secrets or len(text.encode()) >= _LONGEST_ARGUMENT:
            draft.secrets += secrets
            text = str(draft.file("mcp.json", text))
        draft.args.append(f"--mcp-config={text}")
    # Nobody asked, and Barry brings no server: the user's own stay, as without Barry.
    if strict or (strict is None and wanted):
        draft.args.append("--strict-mcp-config")


def reach(draft: PlanDraft) -> None:
    """Extra roots, plugin folders and the options that have a flag."""
    draft.args += [f"--add-dir={root}" for root in draft.config.project_roots or ()]
    draft.args += [f"--plugin-dir={folder}" for folder in draft.config.plugin_dirs or ()]
    for name, value in sorted((draft.config.options or {}).items()):
        draft.args.append(f"{OPTION_FLAGS[name]}={value}")


def telemetry(draft: PlanDraft, held: dict[str, str]) -> None:
    """Where Claude Code reports to."""
    endpoint = draft.config.telemetry_endpoint
    if endpoint is None:
        return
    from urllib.parse import quote

    held |= {
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
    }
    headers = draft.config.telemetry_headers or {}
    if headers:
        pairs = (f"{quote(name)}={quote(value)}" for name, value in headers.items())
        held["OTEL_EXPORTER_OTLP_HEADERS"] = ",".join(pairs)
        draft.secrets += [*headers.values(), held["OTEL_EXPORTER_OTLP_HEADERS"]]
