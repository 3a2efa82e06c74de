"""A script: what the model says to which user text. Frozen data, read from JSON or TOML."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

Seconds = Annotated[float, Field(ge=0, le=600)]


class ScriptError(Exception):
    """A script that can't be used. The text is one sentence for the user."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Say(_Data):
    """A text answer, streamed in `chunks` pieces with `delay` seconds before each."""

    text: str
    chunks: int = Field(default=1, ge=1, le=10_000)
    delay: Seconds = 0.0


class ToolCall(_Data):
    """One call. `input` is an object, or text for a tool that takes free text.

    Without `namespace` it is taken from the request's own list of tools.
    """

    tool: str = Field(min_length=1)
    input: dict[str, Any] | str = Field(default_factory=dict)
    namespace: str = ""


class Call(_Data):
    """One or more tool calls in one answer, with a text before them, all after `delay` seconds."""

    tools: tuple[ToolCall, ...] = Field(min_length=1)
    text: str = ""
    delay: Seconds = 0.0

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        """`{"tool": ..., "input": ...}` is the short form of a single call."""
        if not isinstance(data, dict) or "tool" not in data:
            return data
        rest = dict(data)
        call = {key: rest.pop(key) for key in ("tool", "input", "namespace") if key in rest}
        if "tools" in rest:
            raise ValueError("give `tool` or `tools`, not both")
        return {**rest, "tools": [call]}


class Fail(_Data):
    """An HTTP error, for the first `times` requests that reach this step (absent: for all)."""

    status: int = Field(ge=400, le=599)
    message: str = "scripted failure"
    headers: dict[str, str] = Field(default_factory=dict)
    times: int | None = Field(default=None, ge=1)

    @field_validator("headers")
    @classmethod
    def _one_line(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not f"{name}{value}".isprintable() or not name.isascii() or ":" in name:
                raise ValueError(f"header {name!r} can't be sent: use one line of plain text")
        return headers


class Drop(_Data):
    """A connection that closes: before any answer, or midway through it. `times` as in Fail."""

    drop: Annotated[
        Literal["before", "midway"],
        BeforeValidator(lambda value: "before" if value is True else value),
    ] = "before"
    times: int | None = Field(default=None, ge=1)


def _kind_of(value: Any) -> str | None:
    """Which step a piece of data means: by its keys, as people write it."""
    if isinstance(value, BaseModel):
        return type(value).__name__.lower()
    if not isinstance(value, dict):
        return None
    for keys, kind in (
        (("tool", "tools"), "call"),
        (("status",), "fail"),
        (("drop",), "drop"),
        (("text",), "say"),
    ):
        if any(key in value for key in keys):
            return kind
    return None


def _spelled_out(value: Any) -> Any:
    """Bare text is short for a text answer."""
    return {"text": value} if isinstance(value, str) else value


Step = Annotated[
    Annotated[Say, Tag("say")]
    | Annotated[Call, Tag("call")]
    | Annotated[Fail, Tag("fail")]
    | Annotated[Drop, Tag("drop")],
    Discriminator(
        _kind_of,
        custom_error_type="unknown_step",
        custom_error_message="a step needs one of text, tool, tools, status, drop",
    ),
    BeforeValidator(_spelled_out),
]


class Rule(_Data):
    """Answers for one user text: `when` is a part of it, `then` one step for each round.

    A request that offers no tools is a harness's background request (a title, a summary): it gets
    texts at once and nothing else. `always` treats it like every other request.

    What a harness says itself, in tags or in system messages, is no user text. `framed` looks there
    too, for text that reaches the model by a hook or in a reminder.
    """

    when: str
    then: tuple[Step, ...] = Field(min_length=1)
    always: bool = False
    framed: bool = False


class Usage(_Data):
    """Fixed token numbers for every reply, in place of estimates from the sizes."""

    input: int = Field(ge=0)
    cached: int = Field(default=0, ge=0)
    output: int = Field(ge=0)


class Script(_Data):
    """All rules, first match first. `default` answers what no rule (or no further step) does."""

    rules: tuple[Rule, ...] = ()
    default: Annotated[Say, BeforeValidator(_spelled_out)] = Say(text="ok")
    models: tuple[str, ...] = ("scripted-model",)
    usage: Usage | None = None

    @classmethod
    def parse(cls, data: Any, name: str = "the script") -> Script:
        """Validate plain data. Raises ScriptError with one sentence that names the first fault."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_context=False)[0]
            where = ".".join(str(part) for part in fault["loc"]) or "top level"
            what = fault["msg"].removeprefix("Value error, ")
            raise ScriptError(f"{name} is not a usable script: {where}: {what}.") from None

    @classmethod
    def load(cls, path: Path) -> Script:
        """Read a script file: TOML when its name ends in .toml, else JSON. Raises ScriptError."""
        try:
            text = path.read_text("utf-8")
            data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        except OSError as error:
            raise ScriptError(f"{path} can't be read: {error.strerror or error}.") from None
        except RecursionError:
            raise ScriptError(f"{path} is nested too deeply to be a script.") from None
        except ValueError as error:
            form = "TOML" if path.suffix == ".toml" else "JSON"
            reason = str(error).rstrip(".")
            raise ScriptError(f"{path} is not valid {form}: {reason}.") from None
        return cls.parse(data, str(path))
