"""Programs that name files in options, in little languages of their own, or in commands."""

from barry_cli.policy.ruling.copies import HandedOut
from barry_cli.policy.ruling.file_use import READ, TOUCH, WRITE, FileUse, named
from barry_cli.policy.ruling.operands import after, known, take_apart
from barry_cli.policy.ruling.shell.reading import TEXT, Part, Word

DOCKER = frozenset(
    """-v --volume --mount --secret --env-file --label-file --cidfile --iidfile -f --file --ssh
    --tmpfs -e --env -p --publish --name -u --user -w --workdir --network --entrypoint --label -l
    --platform --add-host --build-arg -t --tag --target --cache-from --cache-to --output -o --input
    -i --config --context -c -H --host --tlscacert --tlscert --tlskey --metadata-file --hostname -h
    --format --filter --since --until --tail -n --restart --cpus -m --memory --gpus --device
    --security-opt --cap-add --cap-drop --ulimit --shm-size --pid --ipc --progress --profile
    --project-name --project-directory --authfile --ignorefile --build-context --message
    --author --change""".split()
)
OPENSSL_READS = frozenset(
    """-in -key -inkey -cert -CA -CAkey -CAfile -CApath -config -certfile -untrusted -signkey -sign
    -prverify -verify -signature -rand -paramfile -peerkey -queryfile -data -content -recip -signer
    -trusted -crl -respin -reqin -issuer -extfile -revoke -gencrl -force_pubkey -kfile -dhparam
    -certs -other -chain -sigfile -pubin_file -spkac -ss_cert -infiles""".split()
)
OPENSSL_WRITES = frozenset(
    "-out -keyout -writerand -respout -reqout -sess_out -keylogfile -certsout -outdir".split()
)
OPENSSL_VALUED = frozenset(
    """-pass -passin -passout -k -K -iv -S -md -days -subj -newkey -keyform -inform -outform
    -connect -servername -starttls -port -accept -name -purpose -hmac -mac -macopt -digest
    -set_serial -serial -CAserial -startdate -enddate -addext -extensions -section -reqexts
    -nameopt -algorithm -pkeyopt -cipher -ciphersuites -alpn -verify_depth -verify_hostname -engine
    -provider -iter -saltlen -salt -policy -tspolicy -url -host -path -timeout -checkend -msg
    -showcerts_ -caname -CSP -pkcs12 -twopass_ -to -from -tlsextdebug_ -groups -curves""".split()
)
SQLITE = frozenset(
    ".read .open .import .output .once .excel .backup .save .clone .dump_ .log .trace .restore"
    " .load .archive .ar".split()
)
SQL_FILES = tuple(
    """attach database into readfile writefile copy from to read_csv read_json read_parquet
    read_text read_blob load_extension""".split()
)
SFTP_WRITES = frozenset(("get", "reget"))
SFTP_READS = frozenset(("put", "reput", "mput"))
ADDRESSES = frozenset(("open", "file", "gopen", "create", "creat", "pipe", "unix-connect"))
PACKED = frozenset("-o -p -w -x -i -t -v -m -f -d -s".split())


def docker(name: str, words: list[Word]) -> list[FileUse]:
    """Mounted folders, secrets and files of settings; operands written like a path."""
    from barry_cli.policy.ruling.containers import without_flags

    taken = take_apart(words, without_flags(words, DOCKER))
    found = [_mounted(value, 0, ":", name) for value in taken.values("-v", "--volume")]
    for value in taken.values("--mount", "--secret", "--ssh", "--build-context"):
        for key in ("source=", "src=", "default="):
            at = value.prefix.find(key)
            if at >= 0:
                found.append(_mounted(value, at + len(key), ",", name))
    reads = ("--env-file", "--label-file", "--file", "-f", "--tlskey", "--tlscert", "--config")
    found += [FileUse(READ, word, name).unsure() for word in taken.values(*reads)]
    found += [
        FileUse(WRITE, word, name)
        for word in taken.values("--cidfile", "--iidfile", "--metadata-file")
    ]
    verb = next((word.text for word in taken.operands), "")
    if verb == "cp":
        for word, kind in zip(taken.operands[1:3], (READ, WRITE), strict=False):
            if ":" not in known(word).partition("/")[0]:
                use = FileUse(kind, word, f"{name} cp")
                use.tree = kind == READ
                found.append(use)
    elif verb in {"build", "save", "load", "import", "export", "buildx", "compose", "image"}:
        found += [FileUse(TOUCH, word, name).unsure() for word in taken.values("-o", "--output")]
        for word in taken.operands[1:]:
            if "/" in known(word) or known(word)[:1] in {".", "~"}:
                found.append(FileUse(READ if verb == "build" else TOUCH, word, name).unsure())
    return found


def _mounted(value: Word, at: int, sign: str, name: str) -> FileUse:
    word = after(value, at) if at else value
    word = _until(word, sign)
    use = FileUse(TOUCH, word, f"{name} mount")
    # A name without a slash is a volume of docker's own.
    use.sure = known(word)[:1] in {"/", ".", "~", "\0"}
    use.tree = True
    use.only = HandedOut(word)
    return use


def _until(word: Word, sign: str) -> Word:
    """The word up to the first known `sign` in it."""
    if word.text is not None:
        return Word(word.text.partition(sign)[0], word.start, word.end, word.quoted)
    parts: list[Part] = []
    for part in word.parts:
        before, found, _ = part.text.partition(sign) if part.kind == TEXT else (part.text, "", "")
        if not found:
            parts.append(part)
            continue
        if before:
            parts.append(Part(TEXT, before, part.start, part.end, part.quoted))
        break
    if all(part.kind == TEXT for part in parts):
        text = "".join([part.text for part in parts])
        return Word(text, word.start, word.end, word.quoted)
    return Word(None, word.start, word.end, word.quoted, tuple(parts))


def jq(name: str, words: list[Word]) -> list[FileUse]:
    """Its options with a name and a file, its filter, and the files it is held against."""
    found: list[FileUse] = []
    operands: list[Word] = []
    filters = False
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        text = word.text or ""
        if text in {"--arg", "--argjson"}:
            index += 2
        elif text in {"--rawfile", "--slurpfile", "--argfile"}:
            found += [FileUse(READ, each, f"jq {text}") for each in words[index + 1 : index + 2]]
            index += 2
        elif text in {"--indent", "--tab-width"}:
            index += 1
        elif text in {"--args", "--jsonargs"}:
            operands = operands[:1]
            break
        elif (
            text == "-L"
            or (text[:1] == "-" != text[1:2] and text[-1:] == "f")
            or (text == "--from-file")
        ):
            if text != "-L":
                filters = True
                found += [FileUse(READ, each, "jq -f") for each in words[index : index + 1]]
            index += 1
        elif word.prefix[:1] != "-" or text == "-":
            operands.append(word)
    files = operands if filters else operands[1:]
    return found + [FileUse(READ, word, "jq") for word in files]


def openssl(name: str, words: list[Word]) -> list[FileUse]:
    """Its options have one dash; operands behind the subcommand are read."""
    valued = OPENSSL_READS | OPENSSL_WRITES | OPENSSL_VALUED
    taken = take_apart(words, valued, single=True)
    found: list[FileUse] = []
    for option in taken.options:
        value = option.value
        if value is None:
            continue
        if option.name in OPENSSL_READS:
            found.append(FileUse(READ, value, f"openssl {option.name}"))
        elif option.name in OPENSSL_WRITES:
            found.append(FileUse(WRITE, value, f"openssl {option.name}"))
        elif value.prefix[:5] == "file:":
            found.append(FileUse(READ, after(value, 5), f"openssl {option.name}"))
    return found + [FileUse(READ, word, "openssl").unsure() for word in taken.operands[1:]]


def sqlite(name: str, words: list[Word]) -> list[FileUse]:
    """The database, and files that its own commands name."""
    taken = take_apart(
        words,
        frozenset("-init -cmd -c -s -separator -newline -nullvalue -vfs -mmap".split()),
        single=True,
    )
    kind = READ if taken.has("-readonly", "--readonly") else WRITE
    found = [FileUse(kind, word, name) for word in taken.operands[:1]]
    found += [FileUse(READ, word, name) for word in taken.values("-init")]
    for word in taken.operands[1:] + taken.values("-cmd", "-c", "-s"):
        found += sqlite_commands(word)
    return found


def sqlite_commands(word: Word) -> list[FileUse]:
    """The files in `.read FILE` and its kin, and in SQL that attaches or exports."""
    found: list[FileUse] = []
    for line in known(word).split("\n"):
        command, *rest = line.split() or [""]
        if command in SQLITE:
            names = [each.strip("'\"") for each in rest if each[:1] != "-"]
            found += [FileUse(TOUCH, named(each, word), f"sqlite {command}") for each in names]
            continue
        pieces = line.split("'")
        for before, text in zip(pieces[::2], pieces[1::2], strict=False):
            if before.lower().rstrip(" (").endswith(SQL_FILES):
                found.append(FileUse(TOUCH, named(text, word), "sqlite").unsure())
    return found


def sftp(name: str, words: list[Word]) -> list[FileUse]:
    """Files of settings and of commands; what stands in the input is read by `sftp_commands`."""
    given = frozenset("-b -F -i -o -P -B -c -D -J -l -R -S -s -X".split())
    taken = take_apart(words, given)
    return [FileUse(READ, word, name) for word in taken.values("-b", "-F", "-i")]


def sftp_commands(word: Word) -> list[FileUse]:
    """`put FILE` and `get REMOTE FILE`, line by line."""
    found: list[FileUse] = []
    for line in known(word).split("\n"):
        verb, *rest = line.strip().lstrip("-@").split() or [""]
        names = [each for each in rest if each[:1] != "-"]
        if verb in SFTP_READS:
            found += [FileUse(READ, named(each, word), "sftp put") for each in names[:1]]
        elif verb in SFTP_WRITES:
            found += [FileUse(WRITE, named(each, word), "sftp get") for each in names[-1:]]
        elif verb in {"lcd", "lmkdir"}:
            found += [FileUse(TOUCH, named(each, word), f"sftp {verb}") for each in names[:1]]
    return found


def socat(name: str, words: list[Word]) -> list[FileUse]:
    """Addresses that are files: `OPEN:path`, `path` itself."""
    found: list[FileUse] = []
    for word in words:
        for start, half in _halves(word):
            kind, colon, rest = half.partition(":")
            if colon and kind.lower() in ADDRESSES:
                found.append(FileUse(TOUCH, _cut(word, start + len(kind) + 1, rest), "socat"))
            elif not colon and "/" in half:
                found.append(FileUse(TOUCH, _cut(word, start, half), "socat"))
    return found


def _halves(word: Word) -> list[tuple[int, str]]:
    text = word.prefix
    if text[:1] == "-":
        return []
    first, bars, second = text.partition("!!")
    return [(0, first), (len(first) + 2, second)] if bars else [(0, text)]


def _cut(word: Word, at: int, text: str) -> Word:
    path = text.partition(",")[0]
    if word.text is None and path == word.prefix[at:]:
        return after(word, at)
    return Word(path, word.start, word.end, word.quoted)


def ffmpeg(name: str, words: list[Word]) -> list[FileUse]:
    """`-i` is read, the last word is written."""
    found: list[FileUse] = []
    for at, word in enumerate(words[:-1]):
        if word.text in {"-i", "-attach", "-filter_script", "-filter_complex_script"}:
            found.append(FileUse(READ, words[at + 1], f"{name} {word.text}"))
        elif word.text in {"-progress", "-passlogfile", "-vstats_file"}:
            found.append(FileUse(WRITE, words[at + 1], f"{name} {word.text}"))
    last = words[-1:] if words and words[-1].prefix[:1] != "-" else []
    if name == "ffprobe":
        return [*found, *(FileUse(READ, word, name).unsure() for word in last)]
    return [*found, *(FileUse(WRITE, word, name) for word in last if len(words) > 1)]


def packed(name: str, words: list[Word]) -> list[FileUse]:
    """`7z a ARCHIVE FILE..`: the command is a word, all others are files."""
    operands = take_apart(words, PACKED).operands[1:]
    found = [FileUse(TOUCH, word, name).whole() for word in operands]
    out = [word for word in words if word.prefix[:2] == "-o" and len(word.prefix) > 2]
    return found + [FileUse(WRITE, after(word, 2), name) for word in out]


DATABASE = """none -f< --file* -o> --output> -L> --log-file> -h: -U: -d: -p: -u: -P: -c: -e:
    --eval: --host: --port: --username: --dbname: --defaults-file< --defaults-extra-file< --out>
    --archive* --tlsCAFile< --cacert< --cert< --key< --pass: -a: -n: -v: -F: -R: -t: --execute:
    --command: --set: --ssl-ca< --result-file> -r>"""


def database(words: list[Word]) -> list[FileUse]:
    """The files that commands on the command line of psql and mysql name."""
    found: list[FileUse] = []
    given = frozenset(
        "-c -e --command --execute -f --file -h -U -d -p -u -P -v -F -R -o -L".split()
    )
    taken = take_apart(words, given)
    for word in taken.values("-c", "-e", "--command", "--execute"):
        found += psql_commands(word)
    return found


def psql_commands(word: Word) -> list[FileUse]:
    """The files that psql's commands behind a backslash name, and `source` and LOAD of mysql."""
    found: list[FileUse] = []
    for line in known(word).split("\n"):
        command, *rest = line.split() or [""]
        pieces = line.split("'")
        for before, text in zip(pieces[::2], pieces[1::2], strict=False):
            if before.lower().rstrip(" (").endswith(("infile", "outfile", "dumpfile", "load_file")):
                found.append(FileUse(TOUCH, named(text, word), "sql").unsure())
        if command[:1] == "\\" or command == "source":
            names = [each.strip("'\"") for each in rest if "." in each or "/" in each]
            found += [FileUse(TOUCH, named(each, word), f"psql {command}") for each in names]
    return found


OWN = {
    "docker": docker,
    "ffmpeg": ffmpeg,
    "jq": jq,
    "openssl": openssl,
    "packed": packed,
    "sftp": sftp,
    "socat": socat,
    "sqlite": sqlite,
}
