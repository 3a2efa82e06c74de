"""The files that curl and wget read and write."""

from barry_cli.policy.ruling.file_use import READ, WRITE, FileUse, named
from barry_cli.policy.ruling.http import CURL_DATA, CURL_VALUED, WGET_VALUED
from barry_cli.policy.ruling.operands import HOLE, after, known, take_apart
from barry_cli.policy.ruling.shell.reading import Word

WRITES = frozenset(
    "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --libcurl --hsts"
    " --alt-svc --etag-save".split()
)
READS = frozenset(
    "-T --upload-file -K --config --netrc-file -E --cert --key --cacert --etag-compare".split()
)
OUTPUT = "%output{"
INNER = frozenset("-F --form --data-urlencode --data-raw".split())


def curl(name: str, words: list[Word]) -> list[FileUse]:
    """Files that curl saves, and those that it sends."""
    taken = take_apart(words, CURL_VALUED)
    found: list[FileUse] = []
    folders = taken.values("--output-dir")
    for option in taken.options:
        value = option.value
        if value is None:
            continue
        reason = f"curl {option.name}"
        if option.name in WRITES:
            use = FileUse(WRITE, value, reason)
            use.folder = folders[-1] if folders and option.name in {"-o", "--output"} else None
            found.append(use)
        elif option.name in READS:
            found += [FileUse(READ, each, reason) for each in _alternatives(option.name, value)]
        elif option.name in {"-w", "--write-out"} and OUTPUT in known(value):
            places = known(value).split(OUTPUT)[1:]
            paths = [place.partition("}")[0].removeprefix(">>") for place in places]
            found += [FileUse(WRITE, named(path, value), reason) for path in paths]
        elif option.name in CURL_DATA:
            found.extend(_sent(option.name, value, reason))
        elif option.name in {"-b", "--cookie"} and "=" not in known(value):
            found.append(FileUse(READ, value, reason))
    if taken.has("-O", "--remote-name", "--remote-name-all"):
        urls = taken.operands + taken.values("--url")
        found.extend(_named_by_url(url, "curl -O", folders) for url in urls)
    local = [url for url in taken.operands if known(url)[:5].lower() == "file:"]
    found.extend(FileUse(READ, url, "curl") for url in local)
    return found


def _alternatives(option: str, value: Word) -> list[Word]:
    """`{a,b}` in the name of a file that is sent stands for each."""
    text = value.text or ""
    head, opens, rest = text.partition("{")
    inside, closes, tail = rest.partition("}")
    if option not in {"-T", "--upload-file"} or not (opens and closes):
        return [value]
    return [named(f"{head}{each}{tail}", value) for each in inside.split(",")]


def _sent(option: str, value: Word, reason: str) -> list[FileUse]:
    """`@file` at the beginning of data, or behind a form's field."""
    text = known(value)
    signs = "@<" if option in {"-F", "--form"} else "@"
    places = [text.find(sign) for sign in signs]
    return [
        FileUse(READ, _until(after(value, at + 1), ";"), reason)
        for at in places
        if at >= 0 and (at == 0 or option in INNER)
    ]


def wget(name: str, words: list[Word]) -> list[FileUse]:
    """Files that wget saves, and those that it sends."""
    taken = take_apart(words, WGET_VALUED)
    if taken.has("--spider", "-V", "--version", "-h", "--help"):
        return []
    found: list[FileUse] = []
    for option in taken.options:
        if option.value is None:
            continue
        reason = f"wget {option.name}"
        if option.name in {"-O", "--output-document", "-o", "--output-file", "-a"}:
            found.append(FileUse(WRITE, option.value, reason))
        elif option.name in {"-i", "--input-file", "--post-file", "--body-file"}:
            found.append(FileUse(READ, option.value, reason))
    if not taken.has("-O", "--output-document"):
        folders = taken.values("-P", "--directory-prefix")
        found.extend(_named_by_url(url, "wget", folders) for url in taken.operands)
    return found


def _named_by_url(url: Word, reason: str, folders: list[Word]) -> FileUse:
    text = known(url).partition("?")[0].partition("#")[0]
    name = text.rpartition("/")[2] if "/" in text.partition("://")[2] or "://" not in text else ""
    named = bool(name) and HOLE not in name
    use = FileUse(WRITE, Word(name, url.start, url.end, True) if named else None, reason)
    use.folder = folders[-1] if folders else None
    return use


def _until(word: Word, sign: str) -> Word:
    if word.text is None:
        return word
    return Word(word.text.partition(sign)[0], word.start, word.end, word.quoted)


OWN = {"curl": curl, "wget": wget}
