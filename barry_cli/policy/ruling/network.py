"""What a program does over the network, told from its words: actions and hosts."""

from barry_cli.policy.ruling import http, remotes
from barry_cli.policy.ruling.http import READ, WRITE, Reach
from barry_cli.policy.ruling.operands import HOLE, known, take_apart
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
PROBES = frozenset("ping ping6 fping traceroute traceroute6 tracepath mtr arping".split())
LOOKUP_VALUED = frozenset("-b -c -f -k -p -q -t -x -y -m -R -W -N -T -w -i -s -I -n -M".split())
RECORDS = frozenset(
    "a aaaa any axfr ixfr caa cname dname dnskey ds hinfo https in ch hs loc mx naptr ns nsec ptr"
    " rrsig soa spf srv sshfp svcb tlsa txt uri".split()
)
"""What stands among the names that are looked up and is none."""
OPENSSL_VALUED = frozenset(
    "-connect -proxy -host -port -servername -CAfile -CApath -cert -key -starttls -cipher -verify"
    " -proxy_user -proxy_pass -xmpphost -name -alpn -bind -keylogfile".split()
)
SVN_READS = frozenset("checkout co update up export log ls list info cat switch sw diff".split())
SVN_WRITES = frozenset("commit ci import mkdir delete del rm copy cp move mv lock".split())
HG_READS = frozenset("clone pull incoming in fetch identify id".split())
HG_WRITES = frozenset(("push", "outgoing", "email"))

SERVICES = frozenset(
    """npm yarn pnpm bun npx pip pipx uv poetry pipenv twine conda cargo go gem bundle composer brew
    apt apk dnf zypper snap flatpak docker helm skopeo kubectl terraform heroku vercel netlify
    wrangler flyctl firebase gsutil rclone s3cmd pip3 podman nerdctl buildah tofu fly yum microdnf
    apt-get mamba micromamba oc pnpx bunx uvx glab gcloud az doctl gh aws""".split()
)
"""Programs of `services`, which is loaded for them alone."""

OTHERS = frozenset(
    """psql pg_dump pg_dumpall pg_restore pg_isready pg_basebackup createdb dropdb createuser
    dropuser vacuumdb reindexdb pgbench pgcli mysql mysqldump mysqladmin mysqlimport mysqlshow
    mariadb mariadb-dump mycli mysqlsh redis-cli valkey-cli keydb-cli mongo mongosh mongodump
    mongorestore mongoexport mongoimport mongostat mongotop cqlsh clickhouse-client influx sqlcmd
    bcp ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd snmpget snmpwalk snmpset
    snmpbulkwalk mosquitto_pub mosquitto_sub kcat kafkacat etcdctl grpcurl smbclient vncviewer
    rdesktop rlogin rsh xfreerdp showmount rpcinfo finger rcp telnet nc ncat netcat nc.openbsd
    nc.traditional ftp ncftp tftp ncftpget ncftpput lftp lftpget websocat wscat ssh-keyscan whois
    lynx links links2 elinks w3m browsh aria2c axel yt-dlp youtube-dl gallery-dl ffmpeg ffprobe
    ffplay mpv vlc cvlc mplayer httping ab wrk hey siege vegeta oha bombardier k6 feroxbuster
    gobuster ffuf nikto sqlmap wpscan nuclei deno streamlink you-get speedtest-cli nmap masscan
    zmap ansible ansible-playbook ansible-pull mount umount socat""".split()
)
"""Programs of `clients`, which is loaded for them alone."""

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
    "HTTPConnection(",
    "HTTPSConnection(",
    "create_connection(",
    "open_connection(",
    "connect_ex(",
    "getaddrinfo(",
    "gethostbyname(",
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
    "Socket.tcp(",
    "WebSocket(",
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
    "telnetlib.",
    "paramiko.",
)
"""How code in another language is seen to open a connection. Most ways are not seen."""


def reach(name: str, words: list[Word]) -> Reach | None:
    """What the program `name` does with `words`, those behind its own name; None: nothing."""
    told = CLIENTS.get(name)
    if told is not None:
        return told(words)
    if name in NAME_LOOKUPS or name in PROBES:
        return _lookup(name, words)
    if name in {"getent", "resolvectl", "openssl", "svn", "hg"}:
        return _by_first(name, words)
    if name in SERVICES:
        from barry_cli.policy.ruling.services import service

        return service(name, words)
    if name in OTHERS:
        from barry_cli.policy.ruling.clients import client

        return client(name, words)
    return None


def code_reach(word: Word) -> Reach | None:
    """What code in another language is seen to do."""
    text = known(word)
    if not any(sign in text for sign in TALKS):
        return None
    from barry_cli.policy.ruling.addresses import in_code

    found = Reach()
    found.add(word, READ, WRITE)
    found.hosts.extend((host, word) for host in in_code(text) or [HOLE])
    return found


def socket_file(path: Word) -> Reach | None:
    """Bash opens a connection for a redirect from or to `/dev/tcp/HOST/PORT`."""
    text = known(path)
    if text[:9] not in {"/dev/tcp/", "/dev/udp/"}:
        return None
    found = Reach()
    found.add(path, READ, WRITE)
    host = text[9:].partition("/")[0]
    if host:
        found.to_url(Word(f"tcp://{host}", path.start, path.end, True))
    return found


def _lookup(name: str, words: list[Word]) -> Reach:
    found = Reach()
    taken = take_apart(words, LOOKUP_VALUED, single=name == "nslookup")
    if taken.has("-V", "--version", "-v") and not taken.operands:
        return found
    operands = taken.operands + (taken.values("-x", "-q") if name != "host" else [])
    for index, word in enumerate(operands):
        text = known(word)
        if text[:1] == "+":
            continue
        found.add(word, DNS)
        host = text.removeprefix("@")
        if host.lower() not in RECORDS and not (index and host.isdecimal()):
            found.to_url(Word(f"dns://{host}", word.start, word.end, True))
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
        taken = take_apart(rest, OPENSSL_VALUED, single=True)
        for word in taken.values("-connect", "-proxy", "-host") + taken.operands:
            found.add(word, READ, WRITE)
            found.to_url(Word(f"tcp://{known(word)}", word.start, word.end, True))
    reads, writes = (SVN_READS, SVN_WRITES) if name == "svn" else (HG_READS, HG_WRITES)
    if name in {"svn", "hg"} and verb in reads | writes:
        found.add(first, READ if verb in reads else WRITE)
        for word in rest:
            if "://" in known(word):
                found.to_url(word)
    return found
