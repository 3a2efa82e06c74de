"""Programs that talk over the network, each in a line: what they do, and which words are hosts.

A line: programs, a bar, their actions (`r` reads, `w` writes, `d` looks names up, `-` none that a
rule names), what the operands are, then options with marks. Operands: `host` (the first is one),
`hosts` (all are), `url` (each is a URL or a host), `urls` (those with a scheme, and `host=..` of
connection texts), `page` (a URL or a host, unless it looks like a file), `db` (a host in front of a
slash, or a URL), `copy` (`host:path`), `none`. A `~`: long options have one dash.
Marks: `=` the value is a host or a URL, or several with commas; `?` it is one where it looks like
one; `:` takes another value; `<` names a file with addresses in it.
"""

from barry_cli.policy.ruling.addresses import addresses, plausible
from barry_cli.policy.ruling.domains import copied_host
from barry_cli.policy.ruling.http import READ, WRITE, Reach
from barry_cli.policy.ruling.operands import HOLE, known, take_apart
from barry_cli.policy.ruling.shell.reading import Word

_LISTED = """\
psql pg_dump pg_dumpall pg_restore pg_isready pg_basebackup createdb dropdb createuser dropuser
    vacuumdb reindexdb pgbench pgcli | rw urls -h= --host= -d? --dbname? -p: --port: -U: --username:
    -c: --command: -f: --file: -v: --variable: -o: --output: -F: -n: -t: -T: -j: -L: -P: -R: -Z:
mysql mysqldump mysqladmin mysqlimport mysqlshow mariadb mariadb-dump mycli | rw urls -h= --host=
    -P: --port: -u: --user: -e: --execute: -D: --database: -S: --socket: -r: --defaults-file:
mysqlsh | rw db -h= --host= -P: --port: -u: --user: -e: --execute: -f: --file: --uri=
redis-cli valkey-cli keydb-cli | rw urls -h= -u= -p: -a: -n: -r: -i: -s: -x --user: --pass: --eval:
mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop | rw db -h= --host=
    --uri= --port: -u: --username: -p: --password: -d: --db: -c: --collection: --eval: --file: -o:
    --out: -q: --query: --authenticationDatabase: --authenticationMechanism: -f:
cqlsh | rw host -u: -p: -k: -e: -f:
clickhouse-client | rw urls -h= --host= --port: -u: --user: --password: -q: --query: -d: --database:
influx | rw urls --host= -host= -H= -t: -o: -b: -q:
sqlcmd bcp | rw none -S= -U: -P: -d: -Q: -q: -i: -o:
ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd | rw urls -H= -h= -D: -w: -y: -b: -s:
    -p: -f: -l: -z: -Y: -U: -X:
snmpget snmpwalk snmpset snmpbulkwalk | r host -v: -c: -u: -l: -a: -A: -x: -X: -t: -r: -O: -m: -M:
mosquitto_pub mosquitto_sub | rw none -h= --host= -L= --url= -t: -m: -p: -u: -P: -i: -q: -f:
kcat kafkacat | rw none -b= -t: -p: -o: -G: -X: -F: -K: -k: -c:
etcdctl | rw none --endpoints= --cert: --key: --cacert:
grpcurl | rw page~ -d: -H: -proto: -import-path: -cert: -key: -cacert: -authority: -rpc-header:
smbclient | rw url -U: -c: -W: -I= -p: -L=
vncviewer rdesktop rlogin rsh | rw host -u: -p: -l: -g: -d:
xfreerdp | rw none
showmount rpcinfo finger | r hosts
rcp | rw copy
telnet | rw host -l: -e: -n: -b: -S: -X:
nc ncat netcat nc.openbsd nc.traditional | rw host -e: -c: -g: -G: -i: -o: -p: -q: -s: -T: -w: -W:
    -x= -X: -m: -I: -O: --proxy= --proxy-type: --proxy-auth: --exec: --sh-exec: --wait:
ftp ncftp tftp ncftpget ncftpput | rw host -u: -p: -P: -N: -o: -s: -T: -c:
lftp lftpget | rw page -u: -p: -e: -c: -f<
websocat wscat | rw url -c= --connect= -H: --header: -x: --execute: -s: --listen:
ssh-keyscan | r hosts -f< -p: -T: -t: -O:
whois | r hosts -h= -p:
lynx links links2 elinks w3m browsh | r page -o: -I: -T: -cfg: -cols: --cookie-jar:
aria2c axel | r url -i< --input-file< -o: --out: -d: --dir: -x: -s: -j: -k: -n: --all-proxy=
    --http-proxy= --https-proxy= --ftp-proxy= --header: -l: --log: -U: --conf-path<
yt-dlp youtube-dl gallery-dl | r url -a< --batch-file< --proxy= -o: --output: -f: --format: -P:
    --paths: --cookies: -r: -N: -S: -I: -i --referer: --user-agent: --add-header: --config-location<
    -t: --merge-output-format: --audio-format: --sub-langs: -u: -p: -d: -D:
ffmpeg ffprobe ffplay mpv vlc cvlc mplayer | r urls
httping ab wrk hey siege vegeta oha bombardier k6 | rw urls -n: -c: -t: -d: -z: -T: -H: -p: -m: -s:
    -g= -h= -x= -f<
feroxbuster gobuster ffuf nikto sqlmap wpscan nuclei | rw urls -u= --url= -h= -host= --target= -w:
    -o: -t: -H: -x: -p: -l< -m<
deno | r urls
streamlink you-get | r urls
speedtest-cli | r none --server: --source:
nmap masscan zmap | d hosts -p: -o: -e: -S: -g: -D: -iL< --script: --script-args:
    --top-ports: -T: -O -iR: -oN: -oX: -oG: -oA: --exclude: --excludefile: --max-retries:
    --host-timeout: --rate: --ports:
ansible | rw host -i? --inventory? -m: -a: -e: -u: -f: -l? --limit? --module-name: --args: --user:
    --extra-vars: --become-user: --private-key: --key-file: -M: -P: -B: -t: -T: -K -k -C -D -b -v
ansible-playbook ansible-pull | rw none -i? --inventory? -l? --limit? -U= --url= -e: -u: -f: -t:
    --tags: -M:
mount umount | - copy -t: -o: -O: -L: -U:
"""

_LISTENERS = frozenset("nc ncat netcat nc.openbsd nc.traditional websocat".split())
_TILDED = frozenset("-cfg -cols -host -iL -iR -oN -oX -oG -oA -connect -proxy".split())
_specs: dict[str, tuple[str, str, dict[str, str]]] = {}


def names() -> frozenset[str]:
    """The programs of the table."""
    _read()
    return frozenset(_specs)


def client(name: str, words: list[Word]) -> Reach | None:
    """What one of these programs does; None for any other."""
    if name == "socat":
        return socat(words)
    _read()
    if name not in _specs:
        return None
    actions, shape, marks = _specs[name]
    found = Reach()
    valued = frozenset(option for option, mark in marks.items() if mark)
    single = shape[-1] == "~"
    taken = take_apart(_opened(words, valued), valued, single=single)
    if taken.has("--help", "--version", "-V") and not taken.operands:
        return found
    for option in taken.options:
        mark = marks.get(option.name, "")
        if option.value is None:
            continue
        if mark == "=" or (mark == "?" and _looks_like(known(option.value))):
            _hosts(option.value, found)
        elif mark == "<":
            found.lists.append(option.value)
        elif name == "lftp" and option.name in {"-c", "-e"}:
            _opens(option.value, found)
    _operands(shape.rstrip("~"), taken.operands, found)
    if shape not in {"host", "hosts", "url"}:
        found.hosts.extend(addresses(words).hosts)
    listens = words[:1] if name in _LISTENERS and taken.has("-l", "--listen") else []
    _act(actions, [word for _, word in found.hosts] + found.lists + listens, found)
    return found


def socat(words: list[Word]) -> Reach:
    """The addresses of socat: `TCP:host:port,options`, `OPENSSL:..`, `PROXY:proxy:host:port`."""
    found = Reach()
    taken = take_apart(words, frozenset(("-b", "-t", "-T", "-l", "-L")), single=True)
    for word in taken.operands:
        kind, colon, rest = known(word).partition(":")
        kind = kind.lower()
        if not colon or HOLE in kind or kind in _HERE or kind.startswith(_SOCKETS):
            if HOLE in kind:
                found.hosts.append((HOLE, word))
                found.add(word, READ, WRITE)
            continue
        found.add(word, READ, WRITE)
        if "listen" in kind or kind.endswith("-l") or "recv" in kind:
            continue
        pieces = rest.partition(",")[0].split(":")
        count = 2 if kind.startswith(("proxy", "socks")) else 1
        if rest[:1] == "[":
            pieces, count = [rest.partition("]")[0] + "]"], 1
        for piece in pieces[:count]:
            found.to_url(Word(f"tcp://{piece}", word.start, word.end, True))
    return found


_HERE = frozenset(
    "exec system shell file open create gopen pty pipe fd stdio stdin stdout stderr tun readline"
    " socketpair".split()
)
_SOCKETS = ("unix", "abstract", "vsock")


def _read() -> None:
    if _specs:
        return
    for line in _LISTED.replace("\n    ", " ").splitlines():
        programs, _, spec = line.partition(" | ")
        actions, shape, *options = spec.split()
        marks = {}
        for item in options:
            marked = item[-1] in "=?:<"
            marks[item[:-1] if marked else item] = item[-1] if marked else ""
        _specs.update(dict.fromkeys(programs.split(), (actions, shape, marks)))


def _opened(words: list[Word], valued: frozenset[str]) -> list[Word]:
    """Long options with one dash, as some of these have them among grouped letters."""
    return [
        Word(f"-{word.text}", word.start, word.end, word.quoted)
        if word.text in _TILDED and f"-{word.text}" in valued
        else word
        for word in words
    ]


def _operands(shape: str, operands: list[Word], found: Reach) -> None:
    if shape == "host":
        operands = operands[:1]
    for word in operands:
        text = known(word)
        if shape in {"host", "hosts", "url"} or "://" in text:
            _hosts(word, found)
        elif shape == "page":
            head = text.partition("/")[0].rpartition("@")[2].partition(":")[0]
            if plausible(head) or HOLE in head:
                _hosts(word, found)
        elif shape == "db" and any(sign in text for sign in "/@:."):
            _hosts(word, found)
        elif shape == "copy" and copied_host(text):
            _hosts(Word(text.partition(":")[0], word.start, word.end, True), found)
        elif shape in {"urls", "db"} and "host" in text:
            _connection(word, found)


def _opens(word: Word, found: Reach) -> None:
    """`open HOST` among the commands of lftp, and addresses."""
    before = ""
    for piece in known(word).replace(";", " ").split():
        if before in {"open", "o", "lftp"} or "://" in piece:
            _hosts(Word(piece.strip("'\""), word.start, word.end, True), found)
        before = before if piece[:1] == "-" else piece


def _connection(word: Word, found: Reach) -> None:
    """`host=.. port=..` in one text."""
    for piece in known(word).split():
        name, equals, value = piece.partition("=")
        if equals and name in {"host", "hostaddr"} and value[:1] != "/":
            found.to_url(Word(value, word.start, word.end, True))


def _hosts(word: Word, found: Reach) -> None:
    text = known(word)
    if "=" in text and " " in text:
        _connection(word, found)
        return
    _, mark, rest = text.partition("://")
    rest, text = (rest, text) if mark else ("", text.removeprefix("//"))
    for each in (rest if mark else text).split(","):
        if not each or (mark and each[:1] == "/"):
            continue
        block = _block(each)
        if block:
            found.hosts.append((block, word))
            continue
        found.to_url(Word(f"tcp://{each}", word.start, word.end, True))


def _block(text: str) -> str:
    """`10.0.0.0/24`, `10.0.0.1-9`: many addresses, of which the beginning is known."""
    address, slash, bits = text.partition("/")
    labels = address.split(".")
    if len(labels) != 4 or not labels[0].isdecimal():
        return ""
    if slash and bits.isdecimal():
        kept = min(int(bits) // 8, 4)
        return "" if kept == 4 else ".".join([*labels[:kept], HOLE])
    known_labels: list[str] = []
    for label in labels:
        if not label.isdecimal():
            return ".".join([*known_labels, HOLE])
        known_labels.append(label)
    return ""


def _looks_like(text: str) -> bool:
    return "://" in text or "," in text or "host" in text or plausible(text.partition(":")[0])


def _act(actions: str, near: list[Word], found: Reach) -> None:
    for letter, action in (("r", READ), ("w", WRITE), ("d", "dns")):
        if letter in actions and near:
            found.add(near[0], action)
