"""The terminal end: a person types, the answer streams."""

import json
import os
import re
from collections.abc import Mapping

from . import VERSION, transcript
from .cancel import Cancel
from .conversation import Conversation, choose, start
from .lineedit import Arrived, Closed, Interrupted, LineInput
from .mail import Mail
from .model import MODELS
from .options import Options
from .problems import Refused, usage
from .processes import Groups
from .terminal import Terminal, harmless, visible
from .tools import Call, Result
from .turn import run_turn

_TURNS_OF_HOOKS = 100
"""How many turns in a row hooks may ask for, before it is the person's."""

_COMMANDS = {
    "/help": "this list",
    "/tools": "the tools, and which run without asking",
    "/model": "show the model; /model NAME changes it",
    "/exit": "leave; /exit N leaves with exit status N",
}


def run(options: Options, cwd: str, env: Mapping[str, str], cancel: Cancel, groups: Groups) -> int:
    """Talk with a person until they leave. Returns the exit status."""
    if not (os.isatty(0) and os.isatty(1)):
        raise usage("there is no terminal; use -p PROMPT or --acp")
    terminal = Terminal(cancel, groups, env, leave_raw="leave-raw" in options.bends)
    deaf = "no-mail" in options.bends
    mail = Mail(options.inbox, deaf=deaf) if options.inbox else None
    tui = _Tui(options, terminal, LineInput(terminal, cancel, mail), cancel)

    def begin(resume: str | None) -> Conversation:
        return start(options, cwd, env, groups, cancel, tui.note, resume=resume)

    known = transcript.ids(cwd, env) if options.pick else []
    if options.pick and not known:
        raise Refused(f"no conversation in {cwd}")
    # What is refused is refused before the terminal is touched.
    conversation = None if options.pick else begin(choose(options, cwd, env))
    terminal.open()
    try:
        if conversation is None:
            picked = tui.pick(known, [_first_prompt(each, cwd, env) for each in known])
            if picked is None:
                return cancel.status if cancel.ending else 0
            conversation = begin(picked)
        return tui.talk(conversation)
    finally:
        terminal.close()


class _Tui:
    def __init__(
        self, options: Options, terminal: Terminal, lines: LineInput, cancel: Cancel
    ) -> None:
        self._options = options
        self._terminal = terminal
        self._lines = lines
        self._cancel = cancel
        self._speaking = False

    def pick(self, known: list[str], titles: list[str]) -> str | None:
        """Let a person choose a conversation. None when they choose none."""
        for at, (each, title) in enumerate(zip(known, titles, strict=True), 1):
            self._print(f"{at}. {each}  {title}")
        while True:
            try:
                said = self._lines.ask("which one? (number, Enter for none) ").strip()
            except (Closed, Interrupted):
                return None
            if not said:
                return None
            if re.fullmatch(r"[0-9]{1,6}", said) and 1 <= int(said) <= len(known):
                return known[int(said) - 1]
            self.note(f"a number from 1 to {len(known)}, please")

    def talk(self, conversation: Conversation) -> int:
        """Prompt, turn, prompt, until the person leaves."""
        self._greet(conversation)
        conversation.hooks.start()
        try:
            return self._talk(conversation)
        finally:
            conversation.hooks.end()

    def _talk(self, conversation: Conversation) -> int:
        if self._options.prompt:
            self._print(self._you() + harmless(self._options.prompt))
            self._turn(conversation, self._options.prompt)
        while not self._cancel.ending:
            try:
                line = self._line()
            except Arrived as message:
                self._print(self._you() + harmless(message.text))
                self._turn(conversation, message.text)
                continue
            if line is None:
                break
            word, _, rest = line.strip().partition(" ")
            if word == "/exit":
                status = self._exit(rest.strip())
                if status is not None:
                    return status
            elif word.startswith("/") and "/" not in word[1:] and "\n" not in line:
                self._command(word, rest.strip(), conversation)
            elif word:
                self._turn(conversation, line)
        return self._cancel.status if self._cancel.ending else 0

    def _line(self) -> str | None:
        """The next message. None when the person leaves, or the process ends."""
        leaving = False
        while True:
            try:
                return self._lines.line(self._you())
            except Closed:
                return None
            except Interrupted as interrupt:
                if self._cancel.ending or (leaving and not interrupt.typed):
                    return None
                leaving = not interrupt.typed
            self._cancel.clear()
            if leaving:
                self.note("press ^C again to leave")

    def _turn(self, conversation: Conversation, prompt: str) -> None:
        for _ in range(_TURNS_OF_HOOKS):
            self._one_turn(conversation, prompt)
            context = conversation.hooks.stop()
            if context is None or self._cancel.ending:
                return
            self._print(self._you() + harmless(context))
            prompt = context

    def _one_turn(self, conversation: Conversation, prompt: str) -> None:
        outcome = run_turn(conversation, prompt, self, self._cancel)
        self._finish_line()
        if outcome.code == "interrupted":
            self.note("interrupted")
        elif not outcome.ok:
            text = f"error: {harmless(outcome.message)}"
            self._print(self._terminal.styled("error", text))
        self._cancel.clear()

    def _exit(self, text: str) -> int | None:
        if not text:
            return 0
        if re.fullmatch(r"[0-9]{1,3}", text) and int(text) < 256:
            return int(text)
        self.note("/exit takes a number from 0 to 255")
        return None

    def _command(self, word: str, rest: str, conversation: Conversation) -> None:
        if word == "/help":
            for name, what in _COMMANDS.items():
                self._print(f"  {name:<7} {what}")
            self._print('  say "run COMMAND", "read PATH" or "write PATH TEXT" to use a tool')
            for skill in self._options.skills:
                self._print(f"  skill: {harmless(skill)}")
        elif word == "/tools":
            box = conversation.toolbox
            for name in box.names():
                free = name in box.always or box.policy.allowed(name)
                self._print(f"  {harmless(name)}{' (runs without asking)' if free else ''}")
            if not box.names():
                self._print("  (none)")
        elif word == "/model":
            if rest in MODELS:
                conversation.model = rest
            elif rest:
                self.note(f"no model {rest!r}; there are: {', '.join(MODELS)}")
            self._print(f"  model: {conversation.model}")
        else:
            self.note(f"no command {word}; /help lists them")

    def _greet(self, conversation: Conversation) -> None:
        if self._options.settings.banner:
            self._print(f"demo {VERSION}, model {conversation.model}, session {conversation.id}")
            self._print(self._terminal.styled("quiet", "/help lists the commands"))
        if self._options.bends:
            self.note(f"bent for tests: {', '.join(sorted(self._options.bends))}")
        for event in conversation.history:
            text = harmless(str(event.get("text", "")))
            if event["type"] == "user":
                self._print(self._you() + text)
            elif event["type"] == "assistant":
                self._print(self._demo() + text)
            elif event["type"] == "tool_use":
                self._tool(str(event.get("name")), json.dumps(event.get("input")))

    # A turn's surface.

    def delta(self, text: str) -> None:
        if not self._speaking:
            self._speaking = True
            self._terminal.write(self._demo())
        self._terminal.write(harmless(text))

    def text(self, text: str) -> None:
        self._finish_line()

    def tool_use(self, call: Call) -> None:
        self._tool(call.name, json.dumps(dict(call.input)))

    def tool_result(self, call: Call, result: Result) -> None:
        if result.decision != "ran":
            self.note(f"{call.name}: {result.output}")

    def usage(self, given: int, made: int) -> None:
        pass  # Written to the transcript; here it would be noise.

    def garbage(self, text: str) -> None:
        self._terminal.write(text)

    def ask(self, call: Call) -> str:
        question = f"allow {visible(call.name)}: {visible(call.title)}? [y]es/[n]o/[a]lways "
        answers = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "a": "always"}
        while True:
            try:
                said = self._lines.ask(question).strip().lower()
            except Closed:
                return "no"
            except Interrupted:
                return "cancel"
            if said in answers or said == "always":
                return answers.get(said, "always")

    def note(self, message: str) -> None:
        """A remark of the program itself."""
        self._finish_line()
        self._print(self._terminal.styled("quiet", f"({harmless(message)})"))

    def _tool(self, name: str, text: str) -> None:
        self._print(self._terminal.styled("tool", f"* {visible(name)} {visible(text)}"))

    def _finish_line(self) -> None:
        if self._speaking:
            self._speaking = False
            self._terminal.write("\n")

    def _print(self, text: str) -> None:
        self._terminal.write(f"{text}\n")

    def _you(self) -> str:
        return self._terminal.styled("you", "you> ")

    def _demo(self) -> str:
        return self._terminal.styled("demo", "demo> ")


def _first_prompt(session: str, cwd: str, env: Mapping[str, str]) -> str:
    path = transcript.find(session, cwd, env)
    try:
        events = transcript.read(path) if path else iter(())
        text = next((str(each.get("text")) for each in events if each["type"] == "user"), "")
    except OSError:
        return "(cannot be read)"
    return visible(text)[:60]
