"""What a ruling answers."""

ALLOWED = "allowed"
DENIED = "denied"
UNDECIDABLE = "undecidable"
"""It can't be known what the call does: treated as denied."""


class Verdict:
    """The ruling on one tool call.

    `outcome`: allowed, denied or undecidable (= denied). `rule`: the rule that matched, as it is
    written in the bound ("" when none is to blame). `field`: where the rule stands in a bound
    ("bash.denyPrograms", "files.deny", ...; "floor" for what no bound removes). `span`: the part
    of the ruled text (`text`, the command line, path, patch or URL) that the rule matched; (0, 0)
    when the call's name alone did. `human` and `agent`: a sentence each; the agent's says what to
    do instead, and neither holds a file's content or a password in a URL.
    """

    __slots__ = ("agent", "field", "human", "outcome", "rule", "span", "text")

    def __init__(
        self,
        outcome: str,
        rule: str = "",
        field: str = "",
        text: str = "",
        span: tuple[int, int] = (0, 0),
        human: str = "",
        agent: str = "",
    ) -> None:
        self.outcome = outcome
        self.rule = rule
        self.field = field
        self.text = text
        self.span = span
        self.human = human
        self.agent = agent

    @property
    def allowed(self) -> bool:
        return self.outcome == ALLOWED


def allowed(text: str = "") -> Verdict:
    """Nothing denies it."""
    return Verdict(ALLOWED, text=text)
