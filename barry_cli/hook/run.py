"""The hook program: ``PYTHON -I -S ENTRY POLICY FINGERPRINT || exit 2``.

A policy's denial is answered in the harness's own form. Whatever keeps Barry from ruling refuses
the call as well: exit code 2, and a sentence that says so.
"""

import posix

from barry_cli.hook.answer import NO_OPINION, fill, write
from barry_cli.hook.event import BYTES, Unreadable, parse_event, part, read_all, text_part
from barry_cli.hook.policy_file import Format, HookPolicy, read_policy
from barry_cli.policy.ruling.rule import rule
from barry_cli.policy.ruling.verdict import Verdict

SECONDS = 20
"""After this long the call is refused. A harness that waits less would let it run."""

REFUSE = 2

AGAIN = "End the session and start it again"


def main(arguments: "list[str]") -> None:
    """Rule on the event that standard input holds, answer, and end the process."""
    try:
        import _signal as signals  # type: ignore[import-not-found]  # what builds on it costs

        signals.signal(signals.SIGALRM, _late)
        signals.pthread_sigmask(signals.SIG_UNBLOCK, (signals.SIGALRM,))
        signals.alarm(SECONDS)
        held = _policy(arguments)
        event = _event()
        form = _format(held, event)
        # From here on only a file system that answers no more takes long. It would hold up a
        # function of ours too: the process is killed instead, and the command's end refuses.
        signals.signal(signals.SIGALRM, signals.SIG_DFL)
        verdict = _rule(held, form, event)
        code = _answer(form, verdict)
        if held.listener is not None:
            from barry_cli.hook.tell import tell

            call = text_part(event, form.paths.get("call", ()))
            tell(held.listener, _tool(form, event), call, verdict)
        posix._exit(code)  # noqa: SLF001 - its public name is in os
    except BaseException as error:
        _refuse(_reason(error))


class _Failed(Exception):
    """Barry can't rule. Its text is the whole reason."""


def _policy(arguments: "list[str]") -> HookPolicy:
    if len(arguments) != 2:
        raise _Failed(
            "the hook was called without its policy and fingerprint: "
            "it is written by `barry session launch`, not by hand"
        )
    path, expected = arguments
    try:
        return read_policy(path, expected)
    except Unreadable as problem:
        raise _Failed(f"the session's policy {path} can't be used: {problem}. {AGAIN}") from None


def _event() -> "dict[str, object]":
    try:
        return parse_event(read_all(0, BYTES))
    except Unreadable as problem:
        raise _Failed(f"what the harness said about the call can't be read: {problem}") from None


def _format(held: HookPolicy, event: "dict[str, object]") -> Format:
    for form in held.formats:
        if "event" not in form.paths or text_part(event, form.paths["event"]) == form.event:
            return form
    raise _Failed("the harness called the hook for an event that its adapter doesn't describe")


def _tool(form: Format, event: "dict[str, object]") -> str:
    name = text_part(event, form.paths["tool"])
    return form.names.get(name, name)


def _rule(held: HookPolicy, form: Format, event: "dict[str, object]") -> Verdict:
    tool = _tool(form, event)
    if not tool:
        raise _Failed("the harness didn't say which tool is called")
    cwd = text_part(event, form.paths["cwd"]) if "cwd" in form.paths else posix.getcwd()
    if cwd[:1] != "/":
        raise _Failed("the harness didn't say in which folder the tool is called")
    given = part(event, form.paths["input"])
    if given is None:
        raise _Failed(f"the harness didn't say what {tool} is called with")
    return rule(held.policy, tool, given, cwd)


def _answer(form: Format, verdict: Verdict) -> int:
    name = "allow" if verdict.allowed else "deny"
    # To say nothing is to have no opinion: the harness then asks as it would without Barry.
    out, is_json, error, code = form.answers.get(name, NO_OPINION)
    if not verdict.allowed and name not in form.answers:
        raise _Failed(f"the adapter gives no form for a denial. {verdict.agent}")
    write(1, fill(out, verdict.agent, is_json))
    write(2, fill(error, verdict.agent, False))
    return code


def _reason(error: BaseException) -> str:
    if isinstance(error, _Failed):
        return str(error)
    kind = type(error).__name__
    return f"its ruling failed ({kind}). That is a fault of Barry: please report it"


def _refuse(reason: str) -> None:
    # A sentence for the model too: it must not take this for a ruling on what it asked for.
    text = f"Barry could not rule on this call, so it is refused: {reason}\n"
    try:
        write(2, text.encode("utf-8", "backslashreplace"))
    finally:
        posix._exit(REFUSE)  # noqa: SLF001 - as above


def _late(*given: object) -> None:
    _refuse(f"the ruling took longer than {SECONDS} seconds")
