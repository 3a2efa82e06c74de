"""What a command line does over the network: actions and hosts, and where they stand in it."""

from barry_cli.policy.ruling.domains import hosts_of
from barry_cli.policy.ruling.http import Reach
from barry_cli.policy.ruling.network import code_reach, reach, socket_file
from barry_cli.policy.ruling.operands import HOLE, known
from barry_cli.policy.ruling.programs.call import Call, Found, Scope
from barry_cli.policy.ruling.programs.code import given_code, language
from barry_cli.policy.ruling.programs.feeds import SHOWN, fed
from barry_cli.policy.ruling.shell.reading import Word

Span = tuple[int, int]


class Traffic:
    """`actions`: each leaf action, with the place of what shows it. `hosts`: canonical, with
    their places; each host once.
    """

    __slots__ = ("actions", "hosts")

    def __init__(self, found: Found) -> None:
        self.actions: dict[str, Span] = {}
        self.hosts: dict[str, Span] = {}
        for call in found.calls:
            self._call(call)
        for reading, scope in found.readings:
            for redirect in reading.redirects:
                target = redirect.file
                if target is not None:
                    self._add(socket_file(target), scope, target)

    def _call(self, call: Call) -> None:
        reached = reach(call.name, call.words[1:])
        if reached is not None and (reached.actions or reached.hosts):
            self._add(reached, call.scope, call.words[0], (call.start, call.end))
            if reached.actions:
                self._proxies(call)
        name = language(call.name)
        if name:
            shown = fed(call)
            for word in shown.words if shown.kind == SHOWN else ():
                self._add(code_reach(word), call.scope, word)
            for word in given_code(name, call.words):
                self._add(code_reach(word), call.scope, word)

    def _proxies(self, call: Call) -> None:
        """`https_proxy=.. curl`, by itself or through env."""
        outer: Call | None = call
        while outer is not None:
            for assignment in outer.command.assignments:
                if assignment.name.lower().endswith("_proxy") and assignment.value is not None:
                    self._proxy(known(assignment.value), assignment.value, call.scope)
            for word in outer.words[1:] if outer.name == "env" else ():
                name, equals, value = known(word).partition("=")
                if equals and name.lower().endswith("_proxy"):
                    self._proxy(value, word, call.scope)
            outer = outer.outer

    def _proxy(self, url: str, word: Word, scope: Scope) -> None:
        if HOLE not in url:
            for host in hosts_of(url):
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
            self.hosts.setdefault(host, scope.place.span(at.start, at.end))
