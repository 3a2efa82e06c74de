"""What the reader sees in a command line."""

import subprocess
import sys
from pathlib import Path
from time import process_time

import pytest

from barry_cli.policy.ruling.shell.reading import (
    BRACE,
    COMMAND,
    GLOB,
    POSITIONAL,
    PROCESS_IN,
    TEXT,
    TILDE,
    VARIABLE,
    Command,
    Word,
    read,
)


def argvs(text: str) -> list[list[str | None]]:
    """The words of every command; None for one that isn't wholly known."""
    reading = read(text)
    assert reading.unparseable == "", reading.unparseable
    return [[word.text for word in command.words] for command in reading.commands]


def lines(text: str) -> list[str]:
    """The same, joined; ? for a word that isn't known."""
    return [" ".join("?" if word is None else word for word in argv) for argv in argvs(text)]


def only(text: str) -> Word:
    """The last word of the first command."""
    return read(text).commands[0].words[-1]


WORDS = {
    "a 'b c' \"d e\" f\\ g": ["a", "b c", "d e", "f g"],
    "a $'\\x41\\102\\u00e9\\n\\'' $\"b\"": ["a", "AB\u00e9\n'", "b"],
    "a $'b\\0c'd": ["a", "bd"],
    'a "\\"\\$\\`\\\\\\z"': ["a", '"$`\\\\z'],
    "g''i\"\"t pu\\\nsh": ["git", "push"],
    "a\\": ["a\\"],
    "a {b,c}d {1..3} {03..1} {c..a} {1..9..4}": "a bd cd 1 2 3 03 02 01 c b a 1 5 9".split(),
    "a {b,{c,d}}e {b,'c,d'} {,x} {} {b} {b,c \\{b,c}": (
        ["a", "be", "ce", "de", "b", "c,d", "x", "{}", "{b}", "{b,c", "{b,c}"]
    ),
    "a {{b,c}..d} {x..3} {1..}": ["a", "b..d", "c..d", "{x..3}", "{1..}"],
    "a b#c #d": ["a", "b#c"],
    "a >&-b": ["a", "b"],
    "a 2>f b": ["a", "b"],
    "a if then }": ["a", "if", "then", "}"],
    "a '~' \\~ ~\"/b\" c~": ["a", "~", "~", "~/b", "c~"],
    "a [ [b b] '*' \\?": ["a", "[", "[b", "b]", "*", "?"],
    "a =b c=d": ["a", "=b", "c=d"],
    "a $ $. \"$\" 'a'$": ["a", "$", "$.", "$", "a$"],
    "\\a b": ["a", "b"],
    "time -p a b": ["a", "b"],
    "! time ! a": ["a"],
}


@pytest.mark.parametrize("text", WORDS)
def test_words(text: str) -> None:
    assert argvs(text) == [WORDS[text]]


COMMANDS = {
    "a; b & c && d || e | f |& g\nh": ["a", "b", "c", "d", "e", "f", "g", "h"],
    "a &\\\n& b |\\\n| c": ["a", "b", "c"],
    "{ a; }; ( b; c )": ["a", "b", "c"],
    "if a; then b; elif c; then d; else e; fi": ["a", "b", "c", "d", "e"],
    "if (a) then (b) fi": ["a", "b"],
    "i\\\nf a; then b; fi": ["a", "b"],
    "for x in $(a) b; do c $x; done": ["a", "c ?"],
    "for x do a; done; for x\ndo b; done; for ((i=0;i<$(c);i++)) { d; }": ["a", "b", "c", "d"],
    "while a; do b; done; until c; do d; done": ["a", "b", "c", "d"],
    "select x in a; do b; done <<<$(c)": ["b", "c"],
    "case $(a) in b) c;; (d|e) f;& g) ;;& esac": ["a", "c", "f"],
    "case if in if) a; esac": ["a"],
    "[[ -n $(a) && ( $(b) == @(c|d) || e =~ ^(f|g)$ ) ]] && h": ["a", "b", "h"],
    "(( x[$(a)] + `b` ))": ["a", "b"],
    "((a); (b))": ["a", "b"],
    "c $((a) | (b))": ["c ?", "a", "b"],
    "f() { a; }; function g { b; }; function h() (c) >$(d); f": ["a", "b", "c", "d", "f"],
    "f() if a; then b; fi": ["a", "b"],
    "coproc a; coproc N { b; }; coproc (c)": ["a", "b", "c"],
    "coproc a=$(b) c; coproc >d e; coproc f g=h": ["c", "b", "e", "f g=h"],
    "x=$(a) y=(b `c` [1]=$(d)) e": ["e", "a", "c", "d"],
    "declare -a x=($(a)) y+=(`b`)": ["declare -a ? ?", "a", "b"],
    "x[$(a)]=b": ["", "a"],
    'a "b $(c "d $(e)") f"': ["a ?", "c ?", "e"],
    'a "`b \\"c\\" \\`d\\``"': ["a ?", "b c ?", "d"],
    "a <(b) >(c) > >(d) < <(e)": ["a ? ?", "b", "c", "d", "e"],
    "a ${b:-$(c)} ${d//`e`/$(f)} ${g[$(h)]}": ["a ? ? ?", "c", "e", "f", "h"],
    'a "$\\\n(b)" $\\\n{c:-`d`}': ["a ? ?", "b", "d"],
    "a $((1+$(b))) $[`c`]": ["a ? ?", "b", "c"],
    "a > $(b) 2>&$(c)": ["a", "b", "c"],
    "cat <<E; a\n$(b) `c` \\$(d) '$(e)'\nE\nf": ["cat", "a", "b", "c", "e", "f"],
    "cat <<'E' 2>&1 | a\n$(b)\nE\nc": ["cat", "a", "c"],
    "cat <<A - <<B\n$(a)\nA\n$(b)\nB\nc": ["cat -", "a", "b", "c"],
    "cat <<-E\n\t$(a)\n\tE\nb": ["cat", "a", "b"],
    "cat <<E''F\n$(a)\nEF\nb": ["cat", "b"],
    'cat <<"a b"\nx\na b\nc': ["cat", "c"],
    "cat <<''\n$(a)\n\nb": ["cat", "b"],
    "cat <<E\nx\\\nE\n$(a)\nE\nb": ["cat", "a", "b"],
    "cat <<E\n$(a)": ["cat", "a"],
    "cat <<E\n$(cat <<F\n$(a)\nF\n)\nE\nb": ["cat", "cat", "a", "b"],
    'a "$(cat <<\'E\'\nit\'s "b" $(c)\nE\n)"': ["a ?", "cat"],
    "a $(cat <<E\nb\nE)": ["a ?", "cat"],
    'a <<<"$(b)" {x}>c d': ["a d", "b"],
    "a # b; c\nd": ["a", "d"],
    "shopt -s extglob\na !(b) @(c|d)": ["shopt -s extglob", "a ? ?"],
    "alias a='b c'": ["alias a=b c"],
    "a=1 >b": [""],
    "\n\n  \n": [],
    "": [],
}


@pytest.mark.parametrize("text", COMMANDS)
def test_commands(text: str) -> None:
    assert sorted(lines(text)) == sorted(COMMANDS[text])


REJECTED = """
a (b) // a b() // ( // ) // () // { } // {a;} // a;; // ; a // & a // a && // | a // a | | b // }
if a; fi // if a; then fi // fi // then // ]] // in // for x in a b // for x { a; } // f() a
while a; done // case a in b c) d;; esac // case a in esac) b;; esac // a || // a ; ; b // a & & b
[[ ]] // [[ a b ]] // [[ -f ]] // [[ 1<2 ]] // [[ a && ]] // a=(b;c) // a b=(c) // a=(b=(c))
command declare a=(b) // "a // 'a // `a // $(a // ${a // $((1) // a < // a > // a << // a 1>2>b
a |& ! b // coproc a fi // function // a $(time (b)) // a <<2>b // for ((a;b)) do c; done // ! fi
$(if a) // a <(b // time } // a $(b;;) // case a in b) c // declare >a b=(c) // a[b // a <<<
[[ a ( b ]] // [[ "a"+( b ]] // coproc a b[c // coproc a=b { c; } // for ((a\\;b;c)) do d; done
"""


@pytest.mark.parametrize("text", REJECTED.strip().replace("\n", " // ").split(" // "))
def test_what_bash_rejects(text: str) -> None:
    assert read(text).unparseable


def test_an_unreadable_text_still_tells_what_stood_before() -> None:
    reading = read('a b; c "d')
    assert reading.unparseable
    assert [command.words[0].text for command in reading.commands] == ["a", "c"]


# What bash runs here isn't what stands here, at least in some version of it.
TRAPS = [
    "x=$(cat <<E\nE\ngit; push)",  # 5.2 loses the semicolon
    "x=$(a | cat <<E; git; push\nE\n)",
    "x=$(if cat <<E\nE\nthen git; push; fi)",
    "x=$(f() { cat <<E\nE\n})",
    "x=$(case a in (esac) ;; esac <<'E'\n$(b)\nE\n)",
    "x=$(A=(a \\ ))",
    "a \"${b:-'$(c)'}\"",
    "a ${b['$(c)']}",
    "a $(( '$(b)' ))",
    "a \"$(( $'b;c' ) | (d))\"",
    "a $[1+$(: '[')]'$(b)]'",
    "a ${ b; }",
    "a ${| b; }",
    "a='$(b)'; c ${a@P}",
    'a "${b[0]@\\\nP}"',
    "set -k\na b=c",
    "shopt -so keyword; a",
    "shopt -s expand_aliases\nalias a=b\na",
    "[[ 'a[$(b)]' -eq 0 ]]",
    "[[ -v 'a[$(b)]' ]]",
    "a <<$(b)\n$(b)\n",
]


@pytest.mark.parametrize("text", TRAPS)
def test_what_is_not_certain_is_refused(text: str) -> None:
    assert read(text).unparseable


@pytest.mark.parametrize(
    "text",
    [
        "x=$(cat <<E\na\nE\n)",
        "x=$(cat <<E; b\nE\n)",
        "x=$(cat <<'E' | b\n$(c)\nE\n); d; e",
        "x=$(A=(a b))",
        "a \"${b:-'c'}\" ${d//$'\\n'/ }",
        "a $(( b['c'] + 1 ))",
        "set -e; set -o pipefail\na",
        "alias a=b\na",
        "[[ $a -eq 0 ]]",
    ],
)
def test_and_their_counterparts_are_read(text: str) -> None:
    assert read(text).unparseable == ""


@pytest.mark.parametrize("text", ["a\0b", "a\rb", "a\x07", "'\x7f'", "a \ud800", "a\r\n"])
def test_characters_that_are_refused(text: str) -> None:
    assert "control character" in read(text).unparseable
    assert read("a\tb\u00e9\u4e2d\n").unparseable == ""


PORTABLE = [
    "a &> b c",
    "a &>> b c",
    "a $'\\'; b'",
    '$"a"',
    "a $[1;b]",
    "((a))",
    "[[ a || b ]]",
    "[[ a > b ]]",
    "[[ a =~ b|c ]]",
]


@pytest.mark.parametrize("text", PORTABLE)
def test_what_another_shell_reads_differently(text: str) -> None:
    assert read(text, portable=True).unparseable
    assert read(text).unparseable == ""


def test_what_all_shells_read_alike() -> None:
    text = 'a &> b; c 2>&1 | d && { e; } >f; [[ -f g ]]; x=$((1 + 2)) h "$(i)" <<E\nE\n'
    assert read(text, portable=True).unparseable == ""


# Words


def test_parts_of_a_word() -> None:
    word = only('a b"$c"d')
    assert [(part.kind, part.text) for part in word.parts] == [
        (TEXT, "b"),
        (VARIABLE, "$c"),
        (TEXT, "d"),
    ]
    assert (word.text, word.prefix, word.suffix, word.many) == (None, "b", "d", False)
    assert word.parts[1].name == "c"
    assert word.parts[1].quoted


@pytest.mark.parametrize(
    ("text", "kind", "many"),
    [
        ("a $b", VARIABLE, True),
        ('a "$b"', VARIABLE, False),
        ('a "$@"', POSITIONAL, True),
        ('a "$*"', POSITIONAL, False),
        ('a "${b[@]}"', VARIABLE, True),
        ('a "${!b}"', VARIABLE, True),
        ("a $(b)", COMMAND, True),
        ('a "$(b)"', COMMAND, False),
        ("a <(b)", PROCESS_IN, False),
        ("a *", GLOB, True),
        ("a [b]", GLOB, True),
        ('a ["b"]', GLOB, True),
        ("a ~", TILDE, False),
        ("a {1..99999}", BRACE, True),
    ],
)
def test_kinds_of_holes(text: str, kind: str, many: bool) -> None:
    word = only(text)
    assert word.text is None
    assert word.parts[0].kind == kind
    assert word.many is many


def test_a_word_without_holes_has_no_parts() -> None:
    assert only("a 'b'\"c\"d").parts == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/usr/bin/git", "git"),
        ("git", "git"),
        ('"$HOME/bin/git"', "git"),
        ("~/bin/git", "git"),
        ("$HOME/bin/git", "git"),
        ("${PWD}/bin/git", "git"),
        ("$home/bin/git", None),
        ("$HOME$x/git", None),
        ("/usr/bin/gi?", None),
        ("$a", None),
        ('"$a"git', None),
    ],
)
def test_basename(text: str, name: str | None) -> None:
    assert only(text).basename == name


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a ~/b", "~/b"),
        ("a '~/b'", "./~/b"),
        ("a b/c", "b/c"),
        ("a $b/c", None),
        ("a ~/*", None),
        ("a ~", "~"),
    ],
)
def test_path(text: str, path: str | None) -> None:
    assert only(text).path == path


def test_tildes_of_assignments() -> None:
    value = read("P=~/a:~/b c").commands[0].assignments[0].value
    assert value is not None
    assert [part.text for part in value.parts] == ["~", "/a:", "~", "/b"]
    assert [part.kind for part in only("dd of=~/x").parts] == [TEXT, TILDE, TEXT]
    assert only("dd --of=~/x").text == "--of=~/x"


def test_a_substitution_holds_its_commands() -> None:
    reading = read('a "$(b; c)" d')
    part = reading.commands[0].words[1].parts[0]
    assert part.commands == tuple(reading.commands[1:])


# Commands


def test_assignments() -> None:
    command = read("A=1 B+='2 3' C[x]=$d E=(f g) h").commands[0]
    assert [(one.name, one.append, one.subscript) for one in command.assignments] == [
        ("A", False, ""),
        ("B", True, ""),
        ("C", False, "x"),
        ("E", False, ""),
    ]
    assert [one.value.text if one.value else "" for one in command.assignments] == [
        "1",
        "2 3",
        None,
        "",
    ]
    assert [word.text for word in command.assignments[3].items] == ["f", "g"]
    assert [word.text for word in command.words] == ["h"]


def test_redirects() -> None:
    text = "a <b >c >>d >|e <>f &>g &>>h 2>i 2>&1 >&j >&- {k}>l 3<&4- <<<m"
    redirects = read(text).commands[0].redirects
    assert [(one.op, one.fd, one.target.text) for one in redirects] == [
        ("<", 0, "b"),
        (">", 1, "c"),
        (">>", 1, "d"),
        (">|", 1, "e"),
        ("<>", 0, "f"),
        ("&>", 1, "g"),
        ("&>>", 1, "h"),
        (">", 2, "i"),
        (">&", 2, "1"),
        (">&", 1, "j"),
        (">&", 1, "-"),
        (">", -1, "l"),
        ("<&", 3, "4-"),
        ("<<<", 0, "m"),
    ]
    assert [one.target.text for one in redirects if one.writes] == list("cdefghijl")
    assert redirects[11].name == "k"
    assert text[redirects[7].start : redirects[7].end] == "2>i"


def test_bodies() -> None:
    literal, expanding, string = read("a <<'E' <<F <<<g\nb $c\nE\nd $e\nF\n").redirects
    assert literal.body is not None
    assert (literal.body.text, literal.quoted) == ("b $c\n", True)
    assert expanding.body is not None
    assert (expanding.body.text, expanding.quoted) == (None, False)
    assert expanding.body.prefix == "d "
    assert string.body is not None
    assert string.body.text == "g\n"
    stripped = read("a <<-E\n\t\tb\n\tE\n").redirects[0].body
    assert stripped is not None
    assert stripped.text == "b\n"


def test_redirects_of_groups_belong_to_the_group() -> None:
    reading = read("{ a; (b) >c; } <d")
    first, second = reading.commands
    assert first.redirects == second.redirects == []
    assert first.group is not None
    assert second.group is not None
    assert [one.target.text for one in first.group.redirects] == ["d"]
    assert [one.target.text for one in second.group.redirects] == ["c"]
    assert [one.target.text for one in reading.redirects] == ["c", "d"]


def named(text: str, name: str) -> Command:
    return next(one for one in read(text).commands if one.words and one.words[0].text == name)


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("a b | sh", ["a"]),
        ("a | b | sh", ["b"]),
        ("(a; b) | sh", ["a", "b"]),
        ("a $(b) | sh", ["a"]),
        ("a >(b) | sh", ["a", "b"]),
        ("a | { b; sh; }", ["a"]),
        ("a | while b; do sh; done", ["a"]),
        ("a | if b; then (sh); fi", ["a"]),
        ("a |& sh", ["a"]),
    ],
)
def test_what_is_piped_in(text: str, sources: list[str]) -> None:
    feed = named(text, "sh").stdin()
    assert feed is not None
    assert [one.words[0].text for one in feed.commands] == sources


def test_where_standard_input_comes_from() -> None:
    feed = named("a | sh <<<b", "sh").stdin()
    assert feed is not None
    assert feed.redirect is not None
    assert feed.redirect.op == "<<<"
    feed = named("{ sh; } <f", "sh").stdin()
    assert feed is not None
    assert feed.redirect is not None
    assert named("a; sh", "sh").stdin() is None
    for text in ("f() { sh; }", "coproc sh", "a >(sh)"):
        feed = named(text, "sh").stdin()
        assert feed is not None
        assert (feed.redirect, feed.commands) == (None, ())


def test_functions_are_told() -> None:
    assert named("f() { if a; then b; fi; }", "b").function == "f"
    assert named("f() { a; }; b", "b").function == ""
    assert named("function g { b; }", "b").in_function


# Places


def test_spans_point_into_the_text() -> None:
    text = "a 'b c' $d; e=f g >h\ni \"$(j k)\""
    reading = read(text)
    spans = [text[one.start : one.end] for one in reading.commands]
    assert spans == ["a 'b c' $d", "e=f g >h", 'i "$(j k)"', "j k"]
    words = [text[word.start : word.end] for one in reading.commands for word in one.words]
    assert words == ["a", "'b c'", "$d", "g", "i", '"$(j k)"', "j", "k"]


def test_spans_inside_backticks() -> None:
    text = "a `b c` `d \\`e\\``"
    reading = read(text)
    assert [text[one.start : one.end] for one in reading.commands] == [
        text,
        "b c",
        "d \\`e\\`",
        "d \\`e\\`",
    ]


# Limits


HOSTILE = [
    "a " * 500_000,
    "(" * 20_000,
    "$(" * 20_000,
    "((" * 32_768,
    "$((" * 21_845,
    "a;" * 32_768,
    "`a` " * 16_384,
    "`" * 65_536,
    "${" * 32_768,
    "<a " * 21_845,
    "((" * 40 + "a" + " ) )" * 40,
    "f(){ " * 13_107,
    "[[ " + "( " * 32_000,
    "$(cat <<E\n" * 5_000,
    "{1..1000}{1..1000} " * 3_000,
    "coproc $(" * 7_000,
    "a[" * 20_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12])
def test_hostile_texts_are_refused(text: str) -> None:
    assert read(text).unparseable


def test_ordinary_nesting_is_read() -> None:
    assert lines("a $(" * 20 + "b" + ")" * 20)[-1] == "b"
    assert read("((a); (b)); ( (c) ); ((d))").unparseable == ""
    assert len(read("a b;" * 760).commands) == 760
    assert "commands" in read("a b;" * 800).unparseable


@pytest.mark.parametrize("text", ["((a)\n(b))", "((a b)\\\n\n c)", "x || ((a  b)\n (c d))"])
def test_a_line_end_that_bash_drops(text: str) -> None:
    """Behind the first closing parenthesis of such a pair bash 5.2 reads on as if it weren't."""
    assert "misreads" in read(text).unparseable


@pytest.mark.parametrize("text", ["a |&\ntime", "a |&\n\n time b", "a |& \ntime -p | b"])
def test_time_on_the_line_behind_a_bar_and_ampersand(text: str) -> None:
    assert "bash rejects it" in read(text).unparseable


@pytest.mark.parametrize("text", ["a |& time b", "a |\ntime b", "a |&\\\n time b", "a |&\nb"])
def test_time_behind_a_bar_is_a_program(text: str) -> None:
    assert read(text).unparseable == ""


def test_line_ends_in_nested_subshells() -> None:
    assert lines("((a) \n (b))") == ["a", "b"]
    assert lines("((a); (b)\n c)") == ["a", "b", "c"]


def seconds(text: str, times: int) -> float:
    """The processor time of reading it once, the best of a few rounds."""
    rounds = []
    for _ in range(3):
        start = process_time()
        for _ in range(times):
            read(text)
        rounds.append((process_time() - start) / times)
    return min(rounds)


def test_no_text_takes_long() -> None:
    usual = seconds(
        'cd /srv/app && git log -n 20 "$BRANCH" | grep -v "fix: typo" >out 2>&1; echo $?', 300
    )
    for text in (
        *HOSTILE,
        "$(a) " * 13_107,
        "a <<E\nE\n" * 7_000,
        "'a b' " * 9_000,
        "a=b " * 16_000,
    ):
        assert seconds(text, 1) <= 2_000 * usual, text[:20]


def test_builtins_alone_are_imported() -> None:
    program = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1])\n"
        "import barry_cli.policy.ruling.shell.reading\n"
        "print(*[name for name in set(sys.modules) - before if not name.startswith('barry_cli')])"
    )
    root = str(Path(__file__).parents[4])
    argv = [sys.executable, "-I", "-S", "-c", program, root]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.split() == []
