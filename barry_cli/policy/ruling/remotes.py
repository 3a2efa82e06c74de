"""What git, ssh and the copying programs do over the network."""

from barry_cli.policy.ruling.domains import copied_host
from barry_cli.policy.ruling.http import Reach, url_hosts
from barry_cli.policy.ruling.operands import HOLE, Operands, known, take_apart
from barry_cli.policy.ruling.shell.reading import Word

PUSH, FETCH = "git:push", "git:fetch"
SSH_READ, SSH_WRITE = "ssh:read", "ssh:write"

GIT_VALUED = frozenset(
    """-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env
    --list-cmds --attr-source""".split()
)
GIT_MORE = frozenset(
    """-o -b -c -j -u --origin --branch --config --depth --reference --template --upload-pack
    --receive-pack --exec --jobs --push-option --repo --remote --shallow-since --shallow-exclude
    --separate-git-dir --filter --server-option --bundle-uri --refmap --negotiation-tip
    --strategy --strategy-option -s -X""".split()
)
GIT_FETCHES = frozenset(("fetch", "pull", "clone", "ls-remote", "fetch-pack"))
GIT_PUSHES = frozenset(("push", "send-pack"))
# Subcommands that reach out with one of these behind them.
GIT_SECOND = {
    "remote": ("update show prune", ""),
    "submodule": ("add update", ""),
    "lfs": ("fetch pull clone", "push"),
    "svn": ("fetch clone rebase init", "dcommit"),
    "subtree": ("add pull", "push"),
    "annex": ("get sync", "copy"),
    "p4": ("clone sync rebase", "submit"),
}

SSH_VALUED = frozenset("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w".split())
COPY_VALUED = frozenset("-B -b -c -D -F -i -J -l -o -P -R -S -s -X".split())
RSYNC_VALUED = frozenset(
    """-e -f -T -B -M --rsh --rsync-path --suffix --backup-dir --partial-dir --temp-dir
    --compare-dest --copy-dest --link-dest --compress-level --exclude --exclude-from --include
    --include-from --files-from --filter --address --port --sockopts --log-file --log-file-format
    --out-format --password-file --bwlimit --timeout --contimeout --max-size --min-size
    --block-size --chmod --chown --usermap --groupmap --max-delete --modify-window --outbuf
    --remote-option --iconv --checksum-seed --info --debug --stop-after --write-batch
    --only-write-batch --read-batch --protocol --skip-compress --compress-choice
    --checksum-choice --max-alloc""".split()
)


def git(words: list[Word]) -> Reach:
    """What git does over the network: nothing for a repository on this machine."""
    reach = Reach()
    before = _before_verb(words)
    found = take_apart(before, GIT_VALUED)
    rest = words[len(before) :]
    if found.has("--version", "-v", "--help", "-h", "--html-path", "--man-path") or not rest:
        return reach
    verb, behind = rest[0], rest[1:]
    inner = take_apart(behind, GIT_MORE)
    if inner.has("--help") or (inner.has("-h") and verb.text == "push"):
        return reach
    action = _git_action(verb, inner)
    if verb.text in {"remote", "submodule", "subtree"}:
        # Nothing is reached yet, but the address is there to be ruled on.
        for word in inner.operands[2:]:
            _to_remote(word, reach)
    if verb.text == "config":
        _git_config(inner, reach)
    if not action:
        return reach
    targets = _git_targets(verb, inner)
    if targets and all(map(_is_local, targets)):
        return reach
    for tag in action:
        reach.add(verb, tag)
    for word in targets:
        _to_remote(word, reach)
    for setting in found.values("-c") + inner.values("-c", "--config"):
        _git_setting(setting, reach)
    return reach


def _git_setting(setting: Word, reach: Reach) -> None:
    """Proxies and other addresses that are set for this run alone."""
    name, equals, value = known(setting).partition("=")
    if not equals:
        return
    lower = name.lower()
    if lower.startswith("url.") and lower.endswith((".insteadof", ".pushinsteadof")):
        value = name[4:].rpartition(".")[0]
    elif not lower.endswith(("proxy", ".url", "pushurl")):
        return
    _to_remote(Word(value, setting.start, setting.end, True), reach)
    if lower.endswith("proxy") and "://" not in value:
        reach.to_url(Word(value, setting.start, setting.end, True))


def _git_config(inner: Operands, reach: Reach) -> None:
    """`config [set] NAME VALUE`: what is set now is reached later."""
    operands = inner.operands
    if operands[:1] and operands[0].text in {"set", "get", "unset", "list", "edit"}:
        operands = operands[1:]
    for value in operands[1:2]:
        setting = f"{known(operands[0])}={known(value)}"
        _git_setting(Word(setting, value.start, value.end, True), reach)


def _before_verb(words: list[Word]) -> list[Word]:
    index = 0
    while index < len(words):
        start = words[index].prefix
        if start[:1] != "-":
            break
        index += 2 if words[index].text in GIT_VALUED else 1
    return words[:index]


def _git_action(verb: Word, inner: Operands) -> tuple[str, ...]:
    name = verb.text
    if name is None:
        return (PUSH, FETCH)
    if name in GIT_PUSHES:
        return (PUSH,)
    if name in GIT_FETCHES:
        return (FETCH,)
    if name == "archive" and inner.has("--remote"):
        return (FETCH,)
    if name == "remote" and inner.has("-f", "--fetch"):
        return (FETCH,)
    if name not in GIT_SECOND or not inner.operands:
        return ()
    reads, writes = GIT_SECOND[name]
    second = inner.operands[0].text
    if second is None:
        return (FETCH, PUSH) if writes else (FETCH,)
    if second in writes.split():
        return (PUSH,)
    return (FETCH,) if second in reads.split() else ()


def _git_targets(verb: Word, inner: Operands) -> list[Word]:
    """The words that may be a repository elsewhere."""
    if verb.text in {"remote", "submodule", "subtree", "svn", "lfs", "annex", "p4"}:
        return [word for word in inner.operands[1:] if _addresses(word)]
    named = inner.values("--repo", "--remote")
    first = inner.operands[:1]
    if verb.text != "clone":
        # A word without a colon or a slash is the name of a remote.
        first = [word for word in first if _addresses(word) or _is_local(word)]
    return named + first


def _addresses(word: Word) -> bool:
    text = known(word)
    return "://" in text or "::" in text or text[:1] == HOLE or bool(copied_host(text))


def _is_local(word: Word) -> bool:
    text = known(word)
    if "://" in text:
        return text[:7].lower() == "file://"
    if word.text is None and word.path is None and HOLE in text.partition("/")[0]:
        return False
    return text[:1] in {"/", "~"} or text[:2] in {"./", ".."} or text in {".", ".."}


def _to_remote(word: Word, reach: Reach) -> None:
    text = known(word)
    transport, mark, rest = text.partition("::")
    if mark and "/" not in transport and ":" not in transport:
        text = rest
    if "://" in text or not text.strip(HOLE):
        reach.hosts.extend((host, word) for host in url_hosts(Word(text, 0, 0, True)))
        return
    host = copied_host(text)
    if host:
        reach.hosts.append((host, word))
    elif HOLE in text.partition("/")[0] and (text[:1] == HOLE or ":" in text):
        reach.hosts.append((HOLE, word))


def ssh(words: list[Word]) -> Reach:
    """What ssh does: the command that runs over there is somebody else's to read."""
    reach = Reach()
    found = take_apart(_until_operand(words, SSH_VALUED), SSH_VALUED)
    if found.has("-G", "-V", "-Q", "-O", "--version", "--help"):
        return reach
    if found.operands or found.unknown:
        reach.add((found.operands or found.unknown)[0], SSH_READ)
    _ssh_hosts(found, reach)
    for word in found.operands[:1]:
        _to_host(word, reach)
    return reach


def _until_operand(words: list[Word], valued: frozenset[str]) -> list[Word]:
    """The options and the first operand: what stands behind it belongs to the other machine."""
    for count in range(1, len(words) + 1):
        if take_apart(words[:count], valued).operands:
            return words[:count]
    return words


def _ssh_hosts(found: Operands, reach: Reach) -> None:
    for word in found.values("-J"):
        for jump in known(word).split(","):
            _to_name(jump, word, reach)
    for word in found.values("-W"):
        _to_name(known(word), word, reach)
    for word in found.values("-L", "-R"):
        # PORT:HOST:PORT, perhaps with an address in front: the end of the tunnel.
        target, _, port = known(word).rpartition(":")
        if port.isdecimal() and ":" in target:
            _to_name(target.rpartition(":")[2], word, reach)
    for word in found.values("-o"):
        name, _, value = known(word).replace("=", " ", 1).strip().partition(" ")
        if name.lower() in {"proxyjump", "hostname"}:
            for jump in value.strip().split(","):
                _to_name(jump, word, reach)


def _to_host(word: Word, reach: Reach) -> None:
    text = known(word)
    if "://" in text:
        reach.to_url(word)
    else:
        _to_name(text, word, reach)


def _to_name(text: str, word: Word, reach: Reach) -> None:
    name = text.rpartition("@")[2]
    if name:
        reach.to_url(Word(f"ssh://{name}", word.start, word.end, True))


def sftp(words: list[Word]) -> Reach:
    """What sftp does; a batch may upload."""
    reach = Reach()
    found = take_apart(words, COPY_VALUED)
    for word in found.operands[:1]:
        reach.add(word, SSH_READ)
        host = copied_host(known(word))
        if host:
            reach.hosts.append((host, word))
        else:
            _to_host(word, reach)
    for word in found.values("-b"):
        reach.add(word, SSH_WRITE)
    _ssh_hosts(found, reach)
    return reach


def ssh_copy_id(words: list[Word]) -> Reach:
    """A key that is put on another machine."""
    reach = Reach()
    found = take_apart(words, frozenset(("-i", "-p", "-o", "-F", "-t")))
    for word in found.operands[:1]:
        reach.add(word, SSH_WRITE)
        _to_host(word, reach)
    return reach


def scp(words: list[Word]) -> Reach:
    """What scp does, by its operands."""
    found = take_apart(words, COPY_VALUED)
    reach = _copy(found)
    _ssh_hosts(found, reach)
    return reach


def rsync(words: list[Word]) -> Reach:
    """What rsync does, by its operands."""
    found = take_apart(words, RSYNC_VALUED)
    if found.has("--version", "--help", "-V", "--daemon"):
        return Reach()
    reach = _copy(found)
    for shell in found.values("-e", "--rsh"):
        text = known(shell).split()
        if reach.actions and len(text) > 1:
            inner = take_apart([Word(each, 0, 0, True) for each in text[1:]], SSH_VALUED)
            _ssh_hosts(inner, reach)
    return reach


def _copy(found: Operands) -> Reach:
    """Sources, then the target: an operand with a colon before any slash is on another machine."""
    reach = Reach()
    *sources, target = found.operands or [Word("", 0, 0, False)]
    for word in sources:
        if _elsewhere(word, reach):
            reach.add(word, SSH_READ)
    if _elsewhere(target, reach):
        # A lone operand is listed, not written to.
        reach.add(target, SSH_WRITE if sources else SSH_READ)
    return reach


def _elsewhere(word: Word, reach: Reach) -> bool:
    text = known(word)
    if "://" in text:
        reach.to_url(word)
        return text[:7].lower() != "file://"
    if word.text is None and text[:1] == HOLE and text.strip(HOLE) == "":
        # Nothing is known of it: it may be on another machine.
        reach.hosts.append((HOLE, word))
        return True
    host = copied_host(text)
    if host:
        reach.hosts.append((host, word))
    return bool(host)
