"""Which git commands change a repository: its history, its branches, its settings, its files."""

from barry_cli.policy.ruling.operands import Operands, take_apart
from barry_cli.policy.ruling.programs.call import Call, Found
from barry_cli.policy.ruling.programs.chains import GLOBALS
from barry_cli.policy.ruling.programs.options import scan
from barry_cli.policy.ruling.shell.reading import Word

ALWAYS = frozenset(
    """add am apply checkout checkout-index cherry-pick clean clone commit commit-tree fast-import
    fetch fetch-pack filter-branch filter-repo gc index-pack init init-db maintenance merge
    merge-file mergetool mktag mktree mv pack-refs prune prune-packed pull push read-tree rebase
    receive-pack repack reset restore revert rm send-pack stage svn switch unpack-objects
    update-index update-ref update-server-info write-tree subtree p4 cvsimport""".split()
)
"""Whatever stands behind them, but for what only shows what would be done."""

SHOWS = frozenset("--help -h --dry-run --show-current-patch --stat --numstat --check".split())
DRY = frozenset("add stage clean mv prune push rm fetch".split())
"""For these `-n` is `--dry-run`."""

# Subcommand -> what may stand behind it in a command that only reads; "-" for nothing at all.
READ_BY_SECOND = {
    "bisect": "log view visualize terms",
    "bundle": "- verify list-heads create",
    "credential": "fill capability",
    "flow": "- version help",
    "lfs": "- ls-files status env logs version pointer help",
    "notes": "- list show get-ref",
    "reflog": "- show exists list",
    "remote": "- show get-url",
    "rerere": "status diff remaining",
    "sparse-checkout": "list check-rules",
    "stash": "list show",
    "submodule": "- status summary foreach",
    "worktree": "list",
}

CONFIG_VALUED = frozenset("-f --file --type -t --default --blob --comment --value --url".split())
CONFIG_WRITES = (
    "--add --edit -e --remove-section --rename-section --replace-all --unset --unset-all".split()
)
CONFIG_READS = (
    "--get --get-all --get-color --get-colorbool --get-regexp --get-urlmatch --list -l".split()
)
BRANCH_VALUED = frozenset("--sort --format --points-at -u --set-upstream-to".split())
BRANCH_WRITES = (
    "-d -D --delete -m -M --move -c -C --copy -f --force -u --set-upstream-to --unset-upstream"
    " --edit-description -t --track --no-track --create-reflog"
).split()
TAG_VALUED = frozenset("-m --message -F --file -u --local-user --sort --format --points-at".split())
TAG_WRITES = "-d --delete -a --annotate -s --sign -f --force -e --edit -m -F -u".split()
LISTS = (
    "-l --list --contains --no-contains --merged --no-merged --points-at --show-current -n -v"
    " --verify"
).split()


class Change:
    """`what`: the command in a few words. `unsure`: that it changes anything can't be known."""

    __slots__ = ("call", "unsure", "what")

    def __init__(self, call: Call, what: str, unsure: bool) -> None:
        self.call = call
        self.what = what
        self.unsure = unsure


def change(found: Found) -> Change | None:
    """The first command of a line that changes a repository."""
    unsure = None
    for call in found.calls:
        if call.name not in {"git", "hub"}:
            continue
        seen = _change(call)
        if seen is not None and not seen.unsure:
            return seen
        unsure = unsure or seen
    return unsure


def _change(call: Call) -> Change | None:
    given = scan(call.words, 1, GLOBALS["git"])
    if given.stop or not given.at:
        return None
    verb = call.words[given.at[0]]
    rest = call.words[given.at[0] + 1 :]
    name = verb.text
    if name is None or given.lost:
        return Change(call, "git", True)
    if not _changes(name, rest):
        return None
    unsure = any(word.text is None and not word.prefix for word in rest[:1])
    return Change(call, f"git {name}", unsure and name not in ALWAYS)


def _changes(verb: str, rest: list[Word]) -> bool:
    if verb in ALWAYS:
        asks = {word.text for word in rest}
        return SHOWS.isdisjoint(asks) and not (verb in DRY and "-n" in asks)
    if any(word.text in {"--help", "-h"} for word in rest):
        return False
    if verb in READ_BY_SECOND:
        return _second(rest) not in READ_BY_SECOND[verb].split()
    if verb == "config":
        return _config(take_apart(rest, CONFIG_VALUED))
    if verb == "branch":
        return _named(take_apart(rest, BRANCH_VALUED), BRANCH_WRITES, "-n -v --verify".split())
    if verb == "tag":
        return _named(take_apart(rest, TAG_VALUED), TAG_WRITES, [])
    taken = take_apart(rest, frozenset(("-m", "-t")))
    if verb == "hash-object":
        return taken.has("-w")
    if verb == "symbolic-ref":
        return taken.has("-d", "--delete") or len(taken.operands) > 1
    if verb == "replace":
        return bool(taken.operands) and not taken.has("-l", "--list")
    return False


def _second(rest: list[Word]) -> str:
    for word in rest:
        text = word.text
        if text is None:
            return ""
        if text[:1] != "-":
            return text
    # `stash -u` is `stash push -u`, `remote -v` only shows.
    return "-"


def _config(taken: Operands) -> bool:
    if taken.has(*CONFIG_WRITES):
        return True
    verb = taken.operands[0].text if taken.operands else ""
    if verb in {"set", "unset", "edit", "rename-section", "remove-section"}:
        return len(taken.operands) > 1 or verb == "edit"
    if verb in {"get", "list"} or taken.has(*CONFIG_READS):
        return False
    return len(taken.operands) > 1 or bool(taken.unknown)


def _named(taken: Operands, writes: list[str], others: list[str]) -> bool:
    """`branch` and `tag`: a name by itself makes one, unless names are listed."""
    if taken.has(*writes):
        return True
    lists = [option for option in LISTS if option not in others]
    return bool(taken.operands or taken.unknown) and not taken.has(*lists)
