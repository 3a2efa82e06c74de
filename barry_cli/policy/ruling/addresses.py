"""Addresses among the words of a program that nothing is known about."""

from barry_cli.policy.ruling.domains import canonical, copied_host, hosts_of
from barry_cli.policy.ruling.http import Reach, url_hosts
from barry_cli.policy.ruling.operands import HOLE, after, known
from barry_cli.policy.ruling.shell.reading import Word

NO_HOST = frozenset(
    """file s3 s3a s3n gs az abfs abfss wasb sqlite sqlite3 duckdb unix dbfs memory chrome about
    blob app content res classpath asset package docker-daemon containers-storage dir
    oci-archive docker-archive fd pipe ipfs magnet vscode arn pkg k8s secret env op vault
    image""".split()
)
"""Schemes behind which no host stands."""

ADDRESSED = frozenset(
    """host hosts hostname server servers url urls uri endpoint endpoints address addresses addr
    proxy registry index mirror remote origin peer peers broker brokers gateway upstream domain
    dsn connect connection repo repository api base target nameserver backend webhook""".split()
)
"""What an option's name ends with when its value is an address."""

TEXTS = frozenset(
    """message body title description comment note notes text subject reason author header name
    summary version tag release m""".split()
)
"""Options whose value is for people, or a version of four numbers."""

SUFFIXES = frozenset(
    """com org net edu gov mil int info biz dev app cloud tech online site xyz test example invalid
    localhost local internal lan corp home intranet onion arpa company network systems tools run
    build services software digital live world email store shop page zone host
    ac ad ae af ag ai al ao ar at au az ba bd be bg bh bo br by bz ca ch ci cl cm cn co cr cu cy cz
    de dk do dz ec ee eg es et eu fi fj fm fr ga ge gg gh gl gr gt hk hn hr ht hu id ie il im in io
    ir is it je jm jo jp ke kg kh kr kw kz lb li lk lt lu lv ly ma mc me mg mn mo mt mu mx my mz na
    ng ni nl no np nu nz om pa pe pk pt py qa ro ru rw sa se sg si sk sn su sv sy th tn to tr tt tv
    tw tz ua ug uk us uy uz va vc ve vi vn ws ye za zm zw""".split()
) - frozenset(("py",))
"""Last labels of names that are hosts. Those that files end with as well are left out: `.py`,
`.sh`, `.rs`, `.md`, `.pl`, `.so`."""

_COMPARED = frozenset("=<>~!^:")
"""In front of a `=` that says which versions are meant: `x==1.2.3.4`."""
_STOPS = " \t\n\"'`<>()[]{}|\\^;"


def addresses(words: list[Word]) -> Reach:
    """The hosts that the words name in a way that is hardly anything else: URLs, `user@host:path`,
    `host:port`, IP addresses, and names behind an option that asks for one.
    """
    found = Reach()
    option = ""
    for word in words:
        text = known(word)
        behind, option = option, ""
        if not text or any(sign in text for sign in "\n\t "):
            continue
        if text[:1] == "-" and len(text) > 1:
            name, equals, _ = text.partition("=")
            if not equals:
                option = last_part(name)
                _urls(text, word, found)
            else:
                _value(last_part(name), after(word, len(name) + 1), found)
        else:
            _value(behind, word, found)
    return found


def bare(words: list[Word]) -> list[tuple[str, Word]]:
    """Words that could be hosts by their form alone, as file names could: `api.example.com/x`."""
    found = []
    for word in words:
        head = known(word).rpartition("=")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
        if head[:1] == "-" or HOLE in head or head.replace(".", "").isdecimal():
            continue
        if plausible(head):
            found.append((canonical(head), word))
    return found


def in_code(text: str) -> list[str]:
    """The hosts that code in another language names: in URLs, and as whole literals."""
    found = Reach()
    word = Word(text, 0, 0, True)
    _urls(text, word, found)
    quoted = text.replace('"', "'").replace("`", "'").split("'")[1::2]
    for piece in quoted:
        if plausible(piece.partition(":")[0]) and piece.partition(":")[0].count("/") == 0:
            found.hosts.extend((host, word) for host in hosts_of(piece))
    return [host for host, _ in found.hosts]


def in_list(text: str) -> list[str]:
    """The hosts in a list of addresses, or in a file of options that curl reads."""
    found = Reach()
    for line in map(str.strip, text.splitlines()):
        if not line or line[0] == "#":
            continue
        name, sign, value = _entry(line)
        if not sign:
            value = name
        elif name not in _LISTED:
            continue
        for each in value.strip().strip('"').split():
            found.to_url(Word(each, 0, 0, True))
    return [host for host, _ in found.hosts]


_LISTED = frozenset("url proxy preproxy x socks4 socks4a socks5 socks5-hostname doh-url".split())


def _entry(line: str) -> tuple[str, str, str]:
    """`name = value`, `name: value`, `--name value`; a line that is a URL has no name."""
    name = line.lstrip("-")
    ends = [at for at in map(name.find, "=: \t") if at > 0]
    at = min(ends, default=0)
    if not at or (line[0] != "-" and name[at : at + 3] == "://") or "." in name[:at]:
        return line, "", ""
    return name[:at].lower(), name[at], name[at:].lstrip("=: \t")


def plausible(host: str) -> bool:
    """A name with a known last label, or an address of numbers."""
    labels = host.split(".")
    if len(labels) == 4 and all(map(str.isdecimal, labels)):
        return all(len(label) < 4 and int(label) < 256 for label in labels)
    if len(labels) < 2 or labels[-1].lower() not in SUFFIXES:
        return False
    plain = "".join(labels).replace("-", "").replace("_", "").replace(HOLE, "a")
    return plain.isalnum() and all(labels)


def _value(option: str, word: Word, found: Reach) -> None:
    if option in TEXTS:
        return
    text = known(word)
    if _urls(text, word, found):
        return
    before, equals, value = text.rpartition("=")
    if equals and (before[-1:] in _COMPARED or last_part(before) in TEXTS):
        return
    for piece in value.split(","):
        if (option in ADDRESSED or option.endswith(("host", "url", "server"))) and _is_name(
            piece.partition("/")[0]
        ):
            found.hosts.extend((host, word) for host in _spelt(piece, word))
        elif _is_strong(piece):
            host = copied_host(piece) if "@" in piece else ""
            found.hosts.extend((each, word) for each in ((host,) if host else hosts_of(piece)))


def _is_name(text: str) -> bool:
    name, colon, port = text.rpartition("@")[2].rpartition(":")
    if colon and port.isdecimal():
        return bool(name) and name.replace("-", "").replace(".", "").replace("_", "").isalnum()
    return plausible(text.rpartition("@")[2])


def _is_strong(text: str) -> bool:
    """`user@host:path`, `host:port`, an address of numbers."""
    head, colon, rest = text.partition(":")
    user, at, host = head.rpartition("@")
    if at and colon and user and "/" not in head:
        return bool(host) and not host[:1].isdigit()  # `package@1.2:x` is a version
    if head[:1] == "[":
        inside = text[1:].partition("]")[0]
        return (
            ":" in inside
            and canonical(inside) != ""
            and set(inside) <= set("0123456789abcdefABCDEF:.")
        )
    if "/" in head or at:
        return False
    digits = head.replace(".", "").isdecimal()
    port = rest.partition("/")[0]
    if colon and not port.isdecimal():
        return False
    return plausible(head) and (bool(colon) or digits)


def _spelt(piece: str, word: Word) -> list[str]:
    return url_hosts(Word(piece, word.start, word.end, True))


def _urls(text: str, word: Word, found: Reach) -> bool:
    """The hosts of every URL in a text; whether there is one."""
    at = text.find("://")
    some = at >= 0
    while at >= 0:
        start = at
        while start and (
            text[start - 1].isalnum() or text[start - 1] in "+-." or text[start - 1] == HOLE
        ):
            start -= 1
        end = len(text)
        for stop in _STOPS:
            place = text.find(stop, at + 3)
            # The brackets of an IPv6 address belong to it.
            if stop == "[" and place == at + 3:
                continue
            if stop == "]" and text[at + 3 : at + 4] == "[":
                continue
            end = place if 0 <= place < end else end
        scheme = text[start:at].lower()
        if scheme.rpartition("+")[2] not in NO_HOST:
            authority = text[at + 3 : end]
            for each in _members(authority):
                found.hosts.extend((host, word) for host in _spelt(f"http://{each}", word) if host)
        at = text.find("://", end)
    return some


def _members(authority: str) -> list[str]:
    """Several hosts stand behind one scheme with commas between them."""
    for end in "/?#":
        authority = authority.partition(end)[0]
    return [each for each in authority.rpartition("@")[2].split(",") if each]


def last_part(name: str) -> str:
    """The last part of an option's name: `registry` of `--npm-registry`."""
    plain = name.lstrip("-").replace("_", "-").replace(".", "-")
    if "-" not in plain and plain[:1].islower() and not plain.islower():
        # allowNet, baseUrl
        cut = max(index for index, letter in enumerate(plain) if letter.isupper())
        plain = plain[cut:]
    return plain.rpartition("-")[2].lower()
