"""What a command line does over the network: actions and hosts, and where they stand in it."""

from barry_cli.policy.ruling.http import LISTED, Reach
from barry_cli.policy.ruling.network import code_reach, reach, socket_file
from barry_cli.policy.ruling.operands import HOLE, known
from barry_cli.policy.ruling.programs.call import Call, Found, Scope
from barry_cli.policy.ruling.programs.code import given_code, language
from barry_cli.policy.ruling.programs.feeds import SHOWN, fed, of_file
from barry_cli.policy.ruling.roles import role
from barry_cli.policy.ruling.shell.reading import Word

Span = tuple[int, int]

DECLARING = frozenset(("export", "declare", "typeset"))
MOST_HOSTS = 64  # behind so many, one that is partly known counts as unknown
MOST_LINES = 64  # of one call, with what its variables may hold
SPEAKING = frozenset(("code", "script", "shell", "perl"))
"""Kinds of programs that run what their words don't say."""


def _may_talk(call: Call) -> bool:
    """Nothing says that the program stays on this machine."""
    if call.name in call.scope.bodies:
        return False  # a function: what it runs is looked at by itself
    kind = role(call.name)
    return not kind or kind.partition(" ")[0] in SPEAKING


def _somewhere(word: Word) -> Reach:
    found = Reach()
    found.hosts.append((LISTED, word))
    return found


class Traffic:
    """`actions`: each leaf action, with the place of what shows it. `hosts`: canonical, with
    their places; each host once, HOLE in one for what isn't known of it. Hosts are looked for in
    words of programs that aren't known, too, and with what the line gives to variables. `named`:
    words of such programs that are hosts if they are no files.
    """

    __slots__ = ("_talks", "_values", "actions", "hosts", "named")

    def __init__(self, found: Found, hosts: bool = True) -> None:
        self.actions: dict[str, Span] = {}
        self.hosts: dict[str, Span] = {}
        self.named: dict[str, Span] = {}
        self._talks = False
        self._values = None
        if hosts and "$" in found.text:
            from barry_cli.policy.ruling.values import Values

            self._values = Values(found)
        for call in found.calls:
            self._call(call, hosts)
        if hosts and self._talks and "=" in found.text:
            self._exported(found)
        for reading, scope in found.readings:
            for redirect in reading.redirects:
                target = redirect.file
                if target is not None:
                    self._add(socket_file(self._filled(target)), scope, target)
                    for word in self._variants([target]):
                        self._may_reach(socket_file(word), scope, target)

    def _exported(self, found: Found) -> None:
        """What the line sets for all that runs in it."""
        for reading, _ in found.readings:
            for command in reading.commands:
                words = command.words
                if command.assignments if not words else words[0].text in DECLARING:
                    from barry_cli.policy.ruling.environment_hosts import exported

                    self._told(exported(found))
                    return

    def _call(self, call: Call, hosts: bool) -> None:
        words = [self._filled(word) for word in call.words[1:]]
        name = call.name.removesuffix(".exe")
        reached = reach(name, words)
        self._talks = self._talks or reached is not None
        if reached is not None and (reached.actions or reached.hosts):
            self._add(reached, call.scope, call.words[0], (call.start, call.end))
        if hosts and reached is not None:
            self._settings(call)
        if hosts and reached is not None and reached.lists:
            self._listed(reached, call)
        if hosts and reached is None:
            self._unknown(call, words)
        for variant in self._lines(words) if hosts and reached is not None else ():
            self._may_reach(reach(name, variant), call.scope, call.words[0])
        spoken = language(call.name)
        if spoken:
            shown = fed(call)
            for word in shown.words if shown.kind == SHOWN else ():
                self._add(code_reach(word), call.scope, word)
            for word in given_code(spoken, call.words):
                self._add(code_reach(word), call.scope, word)

    def _filled(self, word: Word) -> Word:
        return word if self._values is None else self._values.fill(word)

    def _variants(self, words: list[Word]) -> list[Word]:
        """One word with each text that its variables may give it."""
        if self._values is None or words[0].text is not None:
            return []
        (word,) = words
        return [Word(t, word.start, word.end, True) for t in self._values.readings(word)]

    def _lines(self, words: list[Word]) -> list[list[Word]]:
        """The words of a call with the texts that their variables may give them."""
        if self._values is None:
            return []
        found: list[list[Word]] = []
        for index, word in enumerate(words):
            if word.text is None and len(found) < MOST_LINES:
                found += [
                    [*words[:index], each, *words[index + 1 :]] for each in self._variants([word])
                ]
        return found[:MOST_LINES]

    def _may_reach(self, reached: Reach | None, scope: Scope, near: Word) -> None:
        if reached is not None:
            reached.actions.clear()
            self._add(reached, scope, near)

    def _listed(self, reached: Reach, call: Call) -> None:
        """Addresses in a file: those that the line itself feeds are read, others aren't known."""
        for word in reached.lists:
            shown = of_file(word, call)
            if shown.kind != SHOWN:
                self._add(_somewhere(word), call.scope, word)
                continue
            from barry_cli.policy.ruling.addresses import in_list

            for text in shown.words:
                for host in in_list(known(text)):
                    span = call.scope.place.span(word.start, word.end)
                    self.hosts.setdefault(host, span)

    def _unknown(self, call: Call, words: list[Word]) -> None:
        """A program that nothing is known about, with words that are addresses."""
        if not _may_talk(call):
            return
        self._settings(call)
        if not any(sign in known(word) for word in words for sign in ".:"):
            return
        from barry_cli.policy.ruling.addresses import addresses, bare

        code = given_code(language(call.name), call.words) if language(call.name) else []
        texts = [word.text for word in code]
        words = [word for word in words if word.text is None or word.text not in texts]
        self._add(addresses(words), call.scope, call.words[0])
        for host, word in bare(words):
            self.named.setdefault(host, call.scope.place.span(word.start, word.end))
        for variant in self._lines(words):
            self._may_reach(addresses(variant), call.scope, call.words[0])

    def _settings(self, call: Call) -> None:
        """What the call is told through its environment."""
        outer: Call | None = call
        while outer is not None:
            if outer.command.assignments or outer.name == "env":
                from barry_cli.policy.ruling.environment_hosts import told_to

                self._told(told_to(call))
                return
            outer = outer.outer

    def _told(self, told: list[tuple[str, Word, Scope]]) -> None:
        for host, word, scope in told:
            self.hosts.setdefault(host, scope.place.span(word.start, word.end))

    def _add(
        self, reached: Reach | None, scope: Scope, near: Word, span: Span | None = None
    ) -> None:
        if reached is None:
            return
        for action, word in reached.actions.items():
            place = span or scope.place.span(word.start, word.end)
            self.actions.setdefault(action, place)
        for host, word in reached.hosts:
            at = word if word.end else near
            many = HOLE in host and len(self.hosts) > MOST_HOSTS
            self.hosts.setdefault(LISTED if many else host, scope.place.span(at.start, at.end))
