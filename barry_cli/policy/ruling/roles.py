"""Which of a program's words name files, and what happens to them.

An entry: what the operands are, then options with marks. `read`, `write` (made or overwritten),
`change` (removed, moved away, permissions), `copy` (read, the last one written), `move` (the same,
and the sources are gone), `pattern` (the first operand is no file, unless an option stands for it),
`second` (the first is read, the second written), `none`. Marks behind an option: `:` takes a value
that is no file, `<` one that is read, `>` one that is written, `/` the folder that the program
works in, `@` a folder that the operands go to, `=` one that stands for the first operand, `^` one
that is read and stands for it, `!` nothing is written, `+` what is read is written back, `r` whole
folders are gone through.
"""

_SEARCH = (
    "pattern -e= -f^ --regexp= --file^ -m: -A: -B: -C: -d: -D: --max-count: --include: --exclude:"
    " --exclude-dir: --exclude-from< --label: --color: --binary-files: --context: -g: -t: -T: --glob:"
    " --iglob: --type: --type-not: --after-context: --before-context: -j: --threads: -M: -r: -E:"
    " --max-columns: --replace: --sort: --sortr: --max-depth: --ignore-file< --pre:"
)
_PACK = "change -S: --suffix: -b: -c! --stdout! --to-stdout! -l! --list! -t! --test! -T: --threads:"
_LINES = "read -n: -c: --lines: --bytes: -s: --pid: -q: --retry:"

_LISTED: tuple[tuple[str, str], ...] = (
    ("cat tac rev nl od hexdump xxd strings less more most bat batcat zcat bzcat xzcat zless base64"
     " base32 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum wc file comm"
     " join paste fold fmt pr column cmp diff diff3 sdiff colordiff delta expand unexpand look"
     " readelf objdump nm size ldd vimdiff pygmentize highlight glow mdcat view xmllint tomlq csvcut"
     " source . gpg zipinfo unrar lsattr getfacl",
     "read -w: -s: -t: -d: -b: -N: -j: -A: -l: -o: -f: --width: --tabs: --delimiter: -u: -L: -U:"
     " --output>"),
    ("head tail", _LINES),
    ("cut", "read -d: -f: -b: -c: --delimiter: --fields: --characters: --bytes:"
            " --output-delimiter:"),
    ("tr seq numfmt", "none"),
    ("uniq", "second -f: -s: -w: -c -d -u -i"),
    ("sort", "read -o> --output> -k: -t: -S: -T: --key: --field-separator: --parallel: --batch-size:"
             " --buffer-size: --files0-from< --compress-program: --random-source<"),
    ("shuf", "read -o> --output> -n: --head-count: -i: --input-range: --random-source<"),
    ("split", "split"),
    ("grep egrep fgrep zgrep rg ag ack ugrep pcregrep sift", _SEARCH),
    ("jq", "pattern -f^ --from-file^ --arg: --indent: --argjson: --slurpfile: --rawfile:"),
    ("yq", "pattern -i+ --inplace+ --in-place+ -o: -p: --output-format: --input-format:"
           " --from-file^"),
    ("tee sponge", "write"),
    ("touch", "write -d: -t: -r< --date: --time: --reference<"),
    ("truncate", "write -s: -r< --size: --reference<"),
    ("mkfifo mknod", "write -m: --mode:"),
    ("mkdir", "change -m: --mode:"),
    ("rm rmdir unlink shred srm trash trash-put", "change -n: --iterations: -s: --size:"),
    ("chmod chown chgrp chattr setfacl", "pattern --reference= -m= -x= -b -k -R -M^"),
    ("cp", "copy -t@ --target-directory@ -S: --suffix: --sparse: --context: -rr -Rr -ar --archiver"
           " --recursiver --no-preserve: --dry-run!"),
    ("mv", "move -t@ --target-directory@ -S: --suffix:"),
    ("install ginstall", "copy -t@ --target-directory@ -m: -o: -g: -S: --mode: --owner: --group:"
                         " --suffix: --strip-program:"),
    ("ln", "copy -t@ --target-directory@ -S: --suffix:"),
    ("link", "second"),
    ("scp", "copy -B: -c: -D: -F< -i< -J: -l: -o: -P: -S: -X: -rr"),
    ("rsync", "copy -e: -f: -T: -M: --rsh: --exclude: --include: --filter: --exclude-from<"
              " --include-from< --files-from< --log-file> --password-file< --backup-dir: --chmod:"
              " --chown: --port: --suffix: --timeout: --bwlimit: --rsync-path: --partial-dir:"
              " --temp-dir: --compare-dest: --copy-dest: --link-dest: -n! --dry-run! --list-only!"
              " -rr -ar --archiver --recursiver --info: --debug: --out-format: --max-size:"
              " --min-size: --compress-level:"),
    ("gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress pigz pbzip2",
     _PACK + " -d"),
    ("zip", "copy -x: -i: -b: -t: -P: -n: -rr --recurse-pathsr"),
    ("unzip", "unpack -d/ -x: -P: -l! -t! -v! -Z! -p! -c!"),
    ("dos2unix unix2dos fromdos todos", "write -i!"),
    ("iconv", "read -f: -t: -o> --output> --from-code: --to-code: -l"),
    ("openssl", "none -in< -out> -key< -inkey< -cert< -CA< -CAkey< -config< -keyout>"),
    ("strace ltrace", "none -o> --output> -e: -p: -s: -u: -a: -E: -P:"),
    ("time gtime", "none -o> --output> -f: --format:"),
    ("xargs", "none -a< --arg-file< -I: -n: -P: -L: -d: -E: -s: -i:"),
    ("flock", "none"),
    ("vi vim nvim nano emacs pico micro ed ex code subl hx kak gedit",
     "edit -c: -S< -u: --cmd: -s< -i: -p: -T: -U:"),
    ("mktemp", "none"),
    ("wget", "wget"),
    ("curl", "curl"),
    ("dd", "dd"),
    ("sed gsed", "sed"),
    ("awk gawk mawk nawk", "awk"),
    ("perl ruby", "perl"),
    ("tar gtar bsdtar", "tar"),
    ("patch gpatch", "patch"),
    ("git", "git"),
    ("find gfind", "find"),
    ("csplit", "csplit"),
    ("sh bash dash zsh ksh ash", "shell"),
    ("script", "script"),
)  # fmt: skip

# Their operands are words, not files: what looks like a path there is not opened.
_WORDS = frozenset(
    """echo printf : true false test [ [[ export declare typeset local readonly unset set shopt
    alias unalias read return exit sleep kill which type whereis command hash basename dirname
    expr date let trap wait jobs fg bg disown history umask ulimit cd pushd popd pwd ls dir vdir
    stat realpath readlink du df tree id whoami uname hostname yes mkdir say logger notify-send
    man info help apropos tput stty clear nproc getconf locale env printenv sudo doas nohup nice
    timeout setsid stdbuf exec builtin eval npm yarn pnpm pip gh glab apt apt-get brew ssh dig host
    nslookup ping pgrep pkill killall""".split()
)

_roles: dict[str, str] = {}


def role(name: str) -> str:
    """The entry of a program; "words" when its operands are none, "" when it isn't known."""
    if not _roles:
        for names, spec in _LISTED:
            for each in names.split():
                _roles[each] = spec
    found = _roles.get(name)
    if found is None:
        return "words" if name in _WORDS else ""
    return found
