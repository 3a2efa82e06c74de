"""Which of a program's words name files, and what happens to them.

A line: programs, a bar, what the operands are, then options with marks. `read`, `write` (made or
overwritten), `change` (removed, moved away, permissions), `copy` (read, the last one written),
`move` (the same, and the sources are gone), `second` (the second written), `pack` (each one
replaced by another), `pattern` (the first is no file, unless an option stands for it), `none`. A
`~`: long options have one dash. Any other word: a function of its own.
Marks behind an option: `:` takes a value that is no file, `<` one that is read, `>` one that is
written, `/` the folder that the program works in, `@` a folder that the operands go to, `=` one
that stands for the first operand, `^` one that is read and stands for it, `!` nothing is written,
`+` what is read is written back, `r` whole folders are gone through.
"""

# One line for the programs of one kind; a line that is set in goes on with the one before.
_LISTED = """\
cat rev more md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum wc zcat bzcat
    xzcat zless unexpand readelf objdump nm size ldd vimdiff getfacl source . zipinfo | read
tac | read -s: --separator:
nl | read -b: -d: -f: -h: -i: -l: -n: -s: -v: -w:
od | read -A: -j: -N: -S: -t: -w:
hexdump | read -e: -f< -n: -s:
xxd | second -c: -g: -l: -o: -s: -n:
strings | read -n: -t: -e: -T: -U:
less most | read -b: -h: -j: -k< -o> -O> -p: -P: -t: -T: -x: -y: -z:
bat batcat | read -l: -H: -r: -m: --language: --line-range: --highlight-line: --theme: --style:
    --paging: --wrap: --file-name: --color: --decorations: --tabs:
base64 base32 basenc fold | read -w: --wrap: --width:
file | read -f< -m: -F: -P: -e:
comm | read --output-delimiter:
join | read -a: -e: -1: -2: -j: -o: -t: -v:
paste | read -d: --delimiters:
fmt | read -w: -g: -p:
pr | read -D: -h: -l: -o: -w: -W: -N:
column | read -s: -o: -c: -N: -R: -T: -H: -E: -O: -W: --separator: --table-columns:
cmp | read -i: -n:
diff diff3 sdiff colordiff delta | read -C: -U: -I: -W: -F: -x: -X< -S: -L: --label:
    --exclude: --width: --unified: --context: --tabsize: -o>
expand | read -t: --tabs:
look csvcut tomlq highlight glow mdcat pygmentize view lsattr | read
xmllint | read -o> --output> --xpath: --schema< --encode: --pretty:
gpg gpg2 | read -o> --output> -r: -u: --recipient: --local-user: --homedir: --passphrase-file<
head tail | read -n: -c: --lines: --bytes: -s: --pid: --sleep-interval:
cut | read -d: -f: -b: -c: --delimiter: --fields: --characters: --bytes: --output-delimiter:
tr seq numfmt flock | none
mktemp | write -p* --tmpdir* -t: --suffix: -u! --dry-run!
uniq | second -f: -s: -w:
sort | read -o> --output> -k: -t: -S: -T: --key: --field-separator: --parallel: --batch-size:
    --buffer-size: --files0-from< --compress-program: --random-source< --temporary-directory:
shuf | read -o> --output> -n: --head-count: -i: --input-range: --random-source<
split | split
csplit | csplit
grep egrep fgrep zgrep rg ag ack ugrep pcregrep sift | search
fd fdfind | fd
ls dir vdir | ls
tee sponge | write
touch | write -d: -t: -r< --date: --time: --reference<
truncate | write -s: -r< --size: --reference<
mkfifo mknod | write -m: --mode:
mkdir | change -m: --mode:
rm rmdir unlink srm trash trash-put | change
shred | change -n: --iterations: -s: --size: --random-source<
chmod chown chgrp chattr setfacl | pattern --reference= -m= -x= -M^
cp | copy -t@ --target-directory@ -S: --suffix: -rr -Rr -ar --archiver --recursiver
mv | move -t@ --target-directory@ -S: --suffix:
install ginstall | copy -t@ --target-directory@ -m: -o: -g: -S: --mode: --owner: --group:
    --suffix: --strip-program:
ln | copy -t@ --target-directory@ -S: --suffix:
link | second
scp | copy -B: -c: -D: -F< -i< -J: -l: -o: -P: -S: -X: -rr
rsync | copy -e: -f: -T: -M: --rsh: --exclude: --include: --filter: --exclude-from<
    --include-from< --files-from< --log-file> --password-file< --backup-dir: --chmod: --chown:
    --port: --suffix: --timeout: --bwlimit: --rsync-path: --partial-dir: --temp-dir:
    --compare-dest: --copy-dest: --link-dest: -n! --dry-run! --list-only! -rr -ar --archiver
    --recursiver --info: --debug: --out-format: --max-size: --min-size: --compress-level:
gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress pigz pbzip2 | pack
    -S: --suffix: -c! --stdout! --to-stdout! -l! --list! -t! --test! -T: --threads:
zip | zip
unzip | unzip
dos2unix unix2dos fromdos todos | write -i!
iconv | read -f: -t: -o> --output> --from-code: --to-code:
strace ltrace | none -o> --output> -e: -p: -s: -u: -a: -E: -P:
time gtime | none -o> --output> -f: --format:
xargs | none -a< --arg-file< -I: -n: -P: -L: -d: -E: -s:
vi vim nvim nano emacs pico micro ed ex code subl hx kak gedit | edit
wget | wget
curl curlie | curl
dd | dd
sed gsed | sed
awk gawk mawk nawk | awk
perl ruby | perl
tar gtar bsdtar | tar
patch gpatch | patch
git | git
find gfind | find
sh bash dash zsh ksh ash | shell
script | script
python node nodejs deno bun php lua luajit pypy Rscript julia osascript pwsh | code
"""

# Their operands are words, not files: what looks like a path there is not opened.
_WORDS = frozenset(
    """echo printf : true false test [ [[ export declare typeset local readonly unset set shopt
    alias unalias read return exit sleep kill which type whereis command hash basename dirname
    expr let trap wait jobs fg bg disown umask ulimit cd pushd popd pwd stat realpath readlink du
    df tree id whoami uname hostname yes say notify-send man info help apropos tput stty
    clear nproc getconf locale env printenv sudo doas nohup nice timeout setsid stdbuf exec builtin
    eval pgrep pkill killall su runuser ps top htop""".split()
)


def by_name(listed: str) -> dict[str, str]:
    """The entry of each program in lines like those above."""
    found: dict[str, str] = {}
    for line in listed.replace("\n    ", " ").splitlines():
        names, _, spec = line.partition(" | ")
        found.update(dict.fromkeys(names.split(), spec))
    return found


_ROLES = by_name(_LISTED)


def role(name: str) -> str:
    """The entry of a program; "words" when its operands are none, "" when it isn't listed here."""
    found = _ROLES.get(name) or _ROLES.get(name.rstrip("0123456789."))
    if found is None:
        return "words" if name in _WORDS else ""
    return found
