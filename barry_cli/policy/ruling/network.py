"""What a program does over the network, told from its words: actions and hosts."""

from barry_cli.policy.ruling import http, remotes
from barry_cli.policy.ruling.domains import canonical, hosts_of
from barry_cli.policy.ruling.http import READ, WRITE, Reach
from barry_cli.policy.ruling.operands import HOLE, known, take_apart
from barry_cli.policy.ruling.services import service
from barry_cli.policy.ruling.shell.reading import Word

CLIENTS = {
    "curl": http.curl,
    "curlie": http.curl,
    "wget": http.wget,
    "wget2": http.wget,
    "http": http.httpie,
    "https": http.httpie,
    "xh": http.httpie,
    "xhs": http.httpie,
    "git": remotes.git,
    "hub": remotes.git,
    "ssh": remotes.ssh,
    "slogin": remotes.ssh,
    "autossh": remotes.ssh,
    "mosh": remotes.ssh,
    "sshfs": remotes.sftp,
    "sftp": remotes.sftp,
    "scp": remotes.scp,
    "rsync": remotes.rsync,
    "ssh-copy-id": remotes.ssh_copy_id,
}

DNS = "dns"
NAME_LOOKUPS = frozenset(("dig", "nslookup", "host", "drill", "kdig", "delv"))
PROBES = frozenset("ping ping6 fping traceroute traceroute6 tracepath mtr nmap arping".split())
LOOKUP_VALUED = frozenset("-b -c -f -k -p -q -t -x -y -m -R -W -N -T -w -i -s -I -n -M".split())
VISITORS = frozenset(
    "lynx links links2 elinks w3m aria2c axel httping ab wrk hey siege whois youtube-dl yt-dlp"
    " gallery-dl feroxbuster gobuster ffuf".split()
)
SOCKETS = frozenset(
    "nc ncat netcat nc.openbsd nc.traditional telnet socat ftp lftp tftp ncftp websocat".split()
)
SOCKET_VALUED = frozenset("-e -c -g -G -i -o -p -q -s -T -w -W -x -X -m -I -O -u --proxy".split())
SVN_READS = frozenset("checkout co update up export log ls list info cat switch sw diff".split())
SVN_WRITES = frozenset("commit ci import mkdir delete del rm copy cp move mv lock".split())
HG_READS = frozenset("clone pull incoming in fetch identify id".split())
HG_WRITES = frozenset(("push", "outgoing", "email"))

TALKS = (
    "urlopen(",
    "urlretrieve(",
    "requests.get(",
    "requests.post(",
    "requests.put(",
    "requests.patch(",
    "requests.delete(",
    "requests.head(",
    "requests.request(",
    "requests.Session(",
    "httpx.get(",
    "httpx.post(",
    "httpx.Client(",
    "httpx.AsyncClient(",
    "aiohttp.ClientSession(",
    "http.client.HTTP",
    "create_connection(",
    ".connect(",
    "fetch(",
    "http.get(",
    "https.get(",
    "http.request(",
    "https.request(",
    "axios",
    "Net::HTTP",
    "Net::FTP",
    "TCPSocket",
    "URI.open(",
    "LWP::",
    "IO::Socket",
    "HTTP::Tiny",
    "curl_exec",
    "fsockopen(",
    "file_get_contents('http",
    'file_get_contents("http',
    "Invoke-WebRequest",
    "Invoke-RestMethod",
    "smtplib.SMTP",
    "ftplib.FTP",
    "paramiko.",
)
"""How code in another language is seen to open a connection. Most ways are not seen."""


def reach(name: str, words: list[Word]) -> Reach | None:
    """What the program `name` does with `words`, those behind its own name; None: nothing."""
    client = CLIENTS.get(name)
    if client is not None:
        return client(words)
    if name in NAME_LOOKUPS or name in PROBES:
        return _lookup(name, words)
    if name in SOCKETS:
        return _socket(words)
    if name in VISITORS:
        return _visit(name, words)
    if name in {"getent", "resolvectl", "openssl", "svn", "hg", "bash"}:
        return _by_first(name, words)
    return service(name, words)


def code_reach(word: Word) -> Reach | None:
    """What code in another language is seen to do."""
    text = known(word)
    if not any(sign in text for sign in TALKS):
        return None
    found = Reach()
    found.add(word, READ, WRITE)
    for mark in ("http://", "https://"):
        for piece in text.split(mark)[1:]:
            end = len(piece)
            for stop in "'\"` \n\t)],;>\\":
                at = piece.find(stop)
                end = at if 0 <= at < end else end
            if HOLE not in piece[:end]:
                found.hosts.extend((host, word) for host in hosts_of(mark + piece[:end]))
    return found


def socket_file(path: Word) -> Reach | None:
    """Bash opens a connection for a redirect from or to `/dev/tcp/HOST/PORT`."""
    text = known(path)
    if text[:9] not in {"/dev/tcp/", "/dev/udp/"}:
        return None
    found = Reach()
    found.add(path, READ, WRITE)
    host = text[9:].partition("/")[0]
    if host and HOLE not in host:
        found.hosts.append((canonical(host), path))
    return found


def _lookup(name: str, words: list[Word]) -> Reach:
    found = Reach()
    taken = take_apart(words, LOOKUP_VALUED, single=name == "nslookup")
    if taken.has("-V", "--version", "-v") and not taken.operands:
        return found
    operands = taken.operands + (taken.values("-x", "-q") if name != "host" else [])
    for word in operands:
        text = known(word)
        if text[:1] == "+":
            continue
        found.add(word, DNS)
        host = text.removeprefix("@")
        if "." in host and HOLE not in host:
            found.hosts.append((canonical(host), word))
    return found


def _socket(words: list[Word]) -> Reach:
    found = Reach()
    taken = take_apart(words, SOCKET_VALUED)
    if taken.has("-h", "--help", "--version", "-V") or not (taken.operands or taken.has("-l")):
        return found
    found.add((taken.operands or words)[0], READ, WRITE)
    for word in taken.operands + taken.values("-x", "--proxy"):
        text = known(word)
        if "://" in text:
            found.to_url(word)
            continue
        # socat's addresses: TCP:host:port,options
        kind, colon, rest = text.partition(":")
        host = rest if colon and kind.isupper() else text
        host = host.partition(",")[0]
        if "." in host and HOLE not in host and "/" not in host:
            found.hosts.extend((each, word) for each in hosts_of(f"tcp://{host}"))
    return found


def _visit(name: str, words: list[Word]) -> Reach:
    found = Reach()
    taken = take_apart(words, LOOKUP_VALUED | {"-o", "-d", "-x", "--out", "--dir"})
    if taken.has("--version", "--help"):
        return found
    for word in taken.operands:
        text = known(word)
        if name in {"lynx", "links", "links2", "elinks", "w3m"} and "://" not in text:
            continue  # a local file, as often as not
        found.add(word, READ)
        if "." in text or "://" in text:
            found.to_url(word)
    return found


def _by_first(name: str, words: list[Word]) -> Reach | None:
    found = Reach()
    first = next((word for word in words if word.prefix[:1] != "-"), None)
    verb = first.text if first is not None else None
    if first is None or verb is None:
        return None
    rest = words[words.index(first) + 1 :]
    if name == "getent" and verb in {"hosts", "ahosts", "ahostsv4", "ahostsv6"}:
        return _lookup(name, rest)
    if name == "resolvectl" and verb == "query":
        return _lookup(name, rest)
    if name == "openssl" and verb == "s_client":
        taken = take_apart(rest, frozenset(("-connect", "-proxy", "-servername")), single=True)
        for word in taken.values("-connect", "-proxy") + taken.operands:
            found.add(word, READ, WRITE)
            if HOLE not in known(word):
                found.hosts.extend((host, word) for host in hosts_of(f"tcp://{known(word)}"))
    reads, writes = (SVN_READS, SVN_WRITES) if name == "svn" else (HG_READS, HG_WRITES)
    if name in {"svn", "hg"} and verb in reads | writes:
        found.add(first, READ if verb in reads else WRITE)
        for word in rest:
            if "://" in known(word):
                found.to_url(word)
    return found
