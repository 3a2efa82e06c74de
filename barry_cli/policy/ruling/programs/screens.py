"""tmux and screen: commands for a session, and keys that are typed into one."""

from barry_cli.policy.ruling.programs.call import Call, Run, Script, joined
from barry_cli.policy.ruling.programs.chains import GLOBALS
from barry_cli.policy.ruling.programs.helpers import helping_script
from barry_cli.policy.ruling.programs.options import scan
from barry_cli.policy.ruling.programs.shells import Inner
from barry_cli.policy.ruling.shell.nodes import Word

_SCREEN = "a A c: d D e: f h: i L l m O p: q Q! r R s: S: t: T: U v! x X"
_TMUX: dict[str, str] = {
    "new-session": "A d D E P X c: e: f: F: n: s: t: x: y:",
    "new-window": "a b d k P S c: e: F: n: t:",
    "neww": "a b d k P S c: e: F: n: t:",
    "split-window": "b d f h I v P Z c: e: F: l: p: t:",
    "splitw": "b d f h I v P Z c: e: F: l: p: t:",
    "respawn-pane": "k c: e: t:",
    "respawnp": "k c: e: t:",
    "respawn-window": "k c: e: t:",
    "respawnw": "k c: e: t:",
    "run-shell": "b C c: d: t:",
    "if-shell": "b F t:",
    "display-popup": "B C E k N b: c: d: e: h: s: S: t: T: w: x: y:",
    "popup": "B C E k N b: c: d: e: h: s: S: t: T: w: x: y:",
    "pipe-pane": "I O o t:",
    "pipep": "I O o t:",
    "send-keys": "F H K l M R X c: N: t:",
}


def tmux(call: Call) -> list[Inner]:
    """Its commands that hold a shell's command, and keys that are typed into one."""
    words = call.words
    inner: list[Inner] = []
    start = scan(words, 1, GLOBALS["tmux"])
    for name, value in start.given:
        if name == "c" and value is not None:
            inner.append(Script(joined([value]), [value]))
    at = start.at[0] if start.at else len(words)
    while at < len(words):
        end = at
        while end < len(words) and words[end].text not in {";", "\\;"}:
            end += 1
        if end > at:
            inner += _tmux_command(words[at:end])
        at = end + 1
    return inner


def _tmux_command(words: list[Word]) -> list[Inner]:
    asked = words[0].text or ""
    names = [asked] if asked in _TMUX else [n for n in _TMUX if asked and n.startswith(asked)]
    if asked == "send":
        names = ["send-keys"]
    elif asked in {"run", "if"}:
        names = [f"{asked}-shell"]
    if not names:
        return []
    found = scan(words, 1, _TMUX[names[0]])
    operands = words[found.at[0] :] if found.at else []
    if not operands:
        return []
    if names[0] == "send-keys":
        keys = [word for word in operands if word.text not in {"Enter", "C-m", "KPEnter", "Space"}]
        return [_typed(keys)] if keys else []
    if names[0] == "if-shell":
        return [helping_script(word) for word in operands[:3]]
    return [Script(joined(operands), operands)] if len(operands) == 1 else [Run(operands)]


def _typed(words: list[Word]) -> Script:
    script = Script((joined(words, lenient=True) or "").replace("\\n", "\n"), words)
    script.lenient = True
    return script


def screen(call: Call) -> list[Inner]:
    """A command of its own, or text typed into a session (`-X stuff`)."""
    words = call.words
    found = scan(words, 1, _SCREEN)
    names = {name for name, _ in found.given}
    if found.stop or not found.at or words[1].text in {"-ls", "-list", "-wipe"}:
        return []
    if not names.isdisjoint("rRx") or ("m" not in names and not names.isdisjoint("dD")):
        return []  # the operand is a session
    operands = words[found.at[0] :]
    if "X" in names and operands:
        if operands[0].text == "stuff":
            return [_typed(operands[1:])] if operands[1:] else []
        return (
            [Run(operands[1:])] if operands[0].text in {"exec", "screen"} and operands[1:] else []
        )
    return [Run(operands)] if operands else []
