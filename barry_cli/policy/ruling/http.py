"""What the HTTP clients of a command line do: which actions, and which hosts."""

from barry_cli.policy.ruling.domains import canonical, hosts_of, split_scheme
from barry_cli.policy.ruling.operands import HOLE, Operands, after, known, take_apart
from barry_cli.policy.ruling.patterns import alternatives
from barry_cli.policy.ruling.shell.reading import Word

READ = "http:read"
WRITE = "http:write"
LISTED = HOLE + HOLE
"""Stands for hosts that a file names, which isn't looked into."""
SAFE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH"))
"""Methods that change nothing."""


class Reach:
    """What a program does over the network.

    `actions`: each action that it performs, with the word that shows it. `hosts`: the hosts that
    are known, canonical, with the word that names each; HOLE stands in one for what isn't known of
    it. `lists`: words that name files with more addresses in them, "-" for the input.
    """

    __slots__ = ("actions", "hosts", "lists")

    def __init__(self) -> None:
        self.actions: dict[str, Word] = {}
        self.hosts: list[tuple[str, Word]] = []
        self.lists: list[Word] = []

    def add(self, word: Word, *actions: str) -> None:
        for action in actions:
            self.actions.setdefault(action, word)

    def to_url(self, word: Word) -> None:
        self.hosts.extend((host, word) for host in url_hosts(word))


CURL_VALUED = frozenset(
    """-A -b -c -C -d -D -e -E -F -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z
    --abstract-unix-socket --alt-svc --aws-sigv4 --cacert --capath --cert --cert-type --ciphers
    --config --connect-timeout --connect-to --continue-at --cookie --cookie-jar --create-file-mode
    --crlfile --curves --data --data-ascii --data-binary --data-raw --data-urlencode --delegation
    --dns-interface --dns-ipv4-addr --dns-ipv6-addr --dns-servers --doh-url --dump-header
    --ech --egd-file --engine --etag-compare --etag-save --expect100-timeout --form --form-string
    --ftp-account --ftp-alternative-to-user --ftp-method --ftp-port --ftp-ssl-ccc-mode
    --happy-eyeballs-timeout-ms --haproxy-clientip --header --hostpubmd5 --hostpubsha256 --hsts
    --interface --ip-tos --ipfs-gateway --json --keepalive-cnt --keepalive-time --key --key-type
    --krb --libcurl --limit-rate --local-port --login-options --mail-auth --mail-from --mail-rcpt
    --max-filesize --max-redirs --max-time --netrc-file --noproxy --oauth2-bearer --output
    --output-dir --parallel-max --pass --pinnedpubkey --preproxy --proto --proto-default
    --proto-redir --proxy --proxy-cacert --proxy-capath --proxy-cert --proxy-cert-type
    --proxy-ciphers --proxy-crlfile --proxy-header --proxy-key --proxy-key-type --proxy-pass
    --proxy-pinnedpubkey --proxy-service-name --proxy-tls13-ciphers --proxy-tlsauthtype
    --proxy-tlspassword --proxy-tlsuser --proxy-user --proxy1.0 --pubkey --quote --random-file
    --range --rate --referer --request --request-target --resolve --retry --retry-delay
    --retry-max-time --sasl-authzid --service-name --socks4 --socks4a --socks5
    --socks5-gssapi-service --socks5-hostname --speed-limit --speed-time --stderr
    --telnet-option --tftp-blksize --time-cond --tls-max --tls13-ciphers --tlsauthtype
    --tlspassword --tlsuser --trace --trace-ascii --trace-config --unix-socket --upload-file --url
    --url-query --user --user-agent --variable --vlan-priority --write-out""".split()
)
CURL_DATA = (
    "-d --data --data-ascii --data-binary --data-raw --data-urlencode --json -F --form"
    " --form-string"
).split()
CURL_PROXY = (
    "-x --proxy --preproxy --proxy1.0 --socks4 --socks4a --socks5 --socks5-hostname --doh-url"
).split()

WGET_VALUED = frozenset(
    """-e -o -a -i -B -t -O -T -w -Q -P -U -l -A -R -D -I -X --execute --output-file
    --append-output --report-speed --input-file --base --config --rejected-log --tries
    --retry-on-http-error --output-document --start-pos --progress --timeout --dns-timeout
    --connect-timeout --read-timeout --wait --waitretry --quota --bind-address --limit-rate
    --restrict-file-names --prefer-family --user --password --use-askpass --local-encoding
    --remote-encoding --directory-prefix --cut-dirs --http-user --http-password --default-page
    --header --compression --proxy-user --proxy-password --referer --user-agent --load-cookies
    --save-cookies --post-data --post-file --method --body-data --body-file --secure-protocol
    --certificate --certificate-type --private-key --private-key-type --ca-certificate
    --ca-directory --crl-file --pinnedpubkey --ciphers --ftp-user --ftp-password --warc-file
    --warc-header --warc-max-size --warc-dedup --warc-tempdir --level --backups --accept --reject
    --accept-regex --reject-regex --regex-type --domains --exclude-domains --follow-tags
    --ignore-tags --include-directories --exclude-directories""".split()
)

HTTPIE_VALUED = frozenset(
    """-a -A -s -o -p --auth --auth-type --style --output --print --session --session-read-only
    --proxy --max-redirects --timeout --verify --cert --cert-key --ssl --ciphers --boundary
    --default-scheme --pretty --format-options --raw""".split()
)


def curl(words: list[Word]) -> Reach:
    """What curl does; `--next` starts anew."""
    reach = Reach()
    section: list[Word] = []
    for word in words:
        if word.text in {"--next", "-:"}:
            _curl_section(section, reach)
            section = []
        else:
            section.append(word)
    _curl_section(section, reach)
    return reach


def _curl_section(words: list[Word], reach: Reach) -> None:
    found = take_apart([_expanded(word) for word in words], CURL_VALUED)
    if found.has("-V", "--version", "-h", "--help", "-M", "--manual"):
        return
    urls = found.operands + found.values("--url")
    config = found.values("-K", "--config")
    config += [after(url, 1) for url in urls if url.prefix[:1] == "@"]  # --url @file
    if not urls and not config:
        return
    reach.lists.extend(config)
    for proxy in found.values(*CURL_PROXY):
        reach.to_url(proxy)
    for word in found.values("--connect-to", "--resolve"):
        _connect_to(word, reach)
    if config or found.unknown or _may_be_options(urls):
        reach.add((config or found.unknown or urls or words)[0], READ, WRITE)
    uploads = found.has("-T", "--upload-file")
    action = WRITE if uploads else _curl_action(found)
    for url in urls:
        _visit(url, action, uploads, reach)


def _expanded(word: Word) -> Word:
    """`--expand-url` is `--url` with `{{variables}}` put in."""
    text = known(word)
    if text[:9] == "--expand-":
        return Word(f"--{text[9:]}", word.start, word.end, word.quoted)
    start, end = text.find("{{"), text.rfind("}}")
    if start < 0 or end < start:
        return word
    return Word(f"{text[:start]}{HOLE}{text[end + 2 :]}", word.start, word.end, word.quoted)


def _curl_action(found: Operands) -> str:
    methods = found.values("-X", "--request")
    if methods:
        method = methods[-1].text
        return READ if method is not None and method.upper() in SAFE else WRITE
    if found.has(*CURL_DATA) and not found.has("-G", "--get"):
        return WRITE
    return READ


def _visit(url: Word, action: str, uploads: bool, reach: Reach) -> None:
    text = known(url)
    scheme = text.partition(":")[0].lower() if ":" in text else ""
    if scheme == "file":
        return
    if scheme in {"scp", "sftp"}:
        action = "ssh:write" if uploads else "ssh:read"
    reach.add(url, action)
    reach.to_url(url)


def _connect_to(word: Word, reach: Reach) -> None:
    """`HOST:PORT:HOST:PORT` of --connect-to, `HOST:PORT:ADDRESS` of --resolve."""
    text = known(word)
    pieces, inside = [""], False
    for char in text:
        inside = char == "[" or (inside and char != "]")
        if char == ":" and not inside:
            pieces.append("")
        else:
            pieces[-1] += char
    for piece in (pieces[0], *pieces[2:3]):
        if piece:
            reach.to_url(Word(piece.lstrip("+-"), word.start, word.end, True))


def _may_be_options(urls: list[Word]) -> bool:
    """A word of which nothing is known may be an option, if another one is the URL."""
    return len(urls) > 1 and any(not known(url).strip(HOLE) for url in urls)


def wget(words: list[Word]) -> Reach:
    """What wget does."""
    reach = Reach()
    found = take_apart(words, WGET_VALUED)
    if found.has("-V", "--version", "-h", "--help"):
        return reach
    lists = found.values("-i", "--input-file")
    if not found.operands and not lists:
        return reach
    if found.unknown or _may_be_options(found.operands):
        reach.add((found.unknown or found.operands or words)[0], READ, WRITE)
    action = READ
    if found.has("--post-data", "--post-file", "--body-data", "--body-file"):
        action = WRITE
    for method in found.values("--method"):
        action = READ if (method.text or "").upper() in SAFE else WRITE
    reach.lists.extend([*lists, *found.values("--config")])
    for word in lists:
        reach.add(word, action)
    for word in found.operands:
        _visit(word, action, False, reach)
    for setting in found.values("-e", "--execute"):
        name, equals, value = known(setting).partition("=")
        if equals and name.strip().endswith("proxy"):
            reach.to_url(Word(value.strip(), setting.start, setting.end, True))
    return reach


def httpie(words: list[Word]) -> Reach:
    """`[METHOD] URL [ITEM..]`: items that are data make it a POST."""
    reach = Reach()
    found = take_apart(words, HTTPIE_VALUED)
    rest = found.operands
    if found.has("--version", "--help", "--offline") or not rest:
        return reach
    method = rest[0].text if rest else None
    named = method is not None and method.isalpha() and method.isupper()
    if named:
        rest = rest[1:]
    items = rest[1:]
    if found.unknown or not rest:
        reach.add((found.unknown or rest or words)[0], READ, WRITE)
    sends = found.has("--raw", "-f", "--form", "--multipart") or any(map(_is_data, items))
    action = WRITE if sends else READ
    if named and method is not None:
        action = READ if method in SAFE else WRITE
    for url in rest[:1]:
        reach.add(url, action)
        text = known(url)
        if text[:1] != ":":  # :8000/x is this machine
            reach.to_url(url)
    for proxy in found.values("--proxy"):
        _, colon, address = known(proxy).partition(":")
        if colon:
            reach.to_url(Word(address, proxy.start, proxy.end, True))
    return reach


def _is_data(item: Word) -> bool:
    text = known(item)
    at = min((text.find(sign) for sign in "=:@" if sign in text), default=-1)
    if at < 0:
        return HOLE in text
    return (text[at] != ":" and text[at : at + 2] != "==") or text[at : at + 2] == ":="


def url_hosts(word: Word) -> list[str]:
    """The hosts a URL word names, with HOLE for what isn't known of them."""
    found: list[str] = []
    for each in alternatives(known(word)):
        text = _opened(each) if "[" in each or "*" in each else each
        found.extend(hosts_of(text) if HOLE not in text else _partly_known(text))
    return found


def _opened(text: str) -> str:
    """The text with HOLE for what curl or the shell puts in: `[a-z]` and `*` in a host."""
    before, mark, rest = text.rpartition("://")
    ends = [at for at in map(rest.find, "/?#") if at >= 0]
    end = min(ends, default=len(rest))
    host = rest[:end].replace("*", HOLE)
    at = host.find("[")
    while at >= 0:
        inside, closed, behind = host[at + 1 :].partition("]")
        if not closed or ":" in inside:  # an IPv6 address
            break
        host = f"{host[:at]}{HOLE}{behind}"
        at = host.find("[")
    return f"{before}{mark}{host}{rest[end:]}"


def _partly_known(text: str) -> list[str]:
    while HOLE + HOLE in text:
        text = text.replace(HOLE + HOLE, HOLE)
    scheme, mark, rest = text.partition("://")
    if mark and HOLE in scheme:
        text = f"http://{rest}"
    _, authority = split_scheme(text)
    for end in "/?#":
        authority = authority.partition(end)[0]
    host = authority.rpartition("@")[2]
    name, colon, port = host.rpartition(":")
    if colon and (HOLE in port or port.isdecimal()):
        host = name
    if HOLE not in host:
        return list(hosts_of(f"http://{host}"))
    host = canonical(host)
    whole = host[:-1]
    # What is put behind a whole name is a path, as often as not.
    named = [whole] if HOLE not in whole and "." in whole.strip(".") and whole[-1] != "." else []
    return [*named, host]
