"""Writes bash at random, and knows which commands of it run.

Every command is `p<digit> u<number> ..` with a number of its own, and every file that a redirection
creates is `w<number>`. `dead` names those that bash reads and never reaches.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from random import Random

_DEEPEST = 3


@dataclass
class Sentence:
    """A command line, the constructs in it, and the commands and files that are never reached."""

    text: str
    constructs: set[str]
    dead: set[str] = field(default_factory=set)


class Grammar:
    """A source of sentences; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.count = 0
        self.depth = 0
        self.dying = 0  # inside what never runs
        self.used: set[str] = set()
        self.dead: set[str] = set()
        self.bodies: list[str] = []  # here-documents that the next line feed begins
        self.plain = 0  # here no here-document may stand
        self.inner = 0  # inside substitutions
        self.within = 0  # inside compound commands of this substitution
        self.documents = 0  # here-documents in this substitution
        self.careful = 0  # here bash counts brackets in the raw text
        self.flat = 0  # here no redirection may stand, and no list
        self.total: Counter[str] = Counter()
        self.made: Counter[str] = Counter()
        self.functions = 0
        self.coprocess = False

    def sentence(self) -> Sentence:
        """One command line of a few commands."""
        self.functions = 0
        self.used, self.dead, self.coprocess = set(), set(), False
        text = self.sequence()
        if self.bodies:
            if self.chance(0.1) and len(self.bodies) == 1:
                self.note("here-document: ended by the end of the text")
                text += "\n" + self.bodies.pop().rpartition("\n")[0].rpartition("\n")[0]
            else:
                text += self.feed()
        return Sentence(text, self.used, self.dead)

    # small things

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def note(self, construct: str) -> None:
        self.used.add(construct)
        self.total[construct] += 1

    def pick(self, constructs: Collection[str]) -> str:
        """One of them, the rarer the likelier."""
        some = self.random.choices(list(constructs), k=3)
        return min(some, key=self.total.__getitem__) if self.chance(0.6) else some[0]

    def choose(self, *ways: Callable[[], str]) -> str:
        return self.random.choice(ways)()

    def space(self) -> str:
        if self.chance(0.03):
            self.note("line continuation: between words")
            return " \\\n"
        return self.random.choice([" "] * 12 + ["  ", "\t"])

    def operator(self, text: str) -> str:
        if len(text) > 1 and self.chance(0.04):
            self.note("line continuation: inside an operator")
            return text[0] + "\\\n" + text[1:]
        return text

    def keyword(self, text: str) -> str:
        if len(text) > 1 and self.chance(0.02):
            self.note("line continuation: inside a reserved word")
            return text[0] + "\\\n" + text[1:]
        return text

    def dollar(self) -> str:
        if self.chance(0.04):
            self.note("line continuation: behind a dollar")
            return "$\\\n"
        return "$"

    def feed(self) -> str:
        """A line feed, and the here-documents that wait for one."""
        bodies, self.bodies = self.bodies, []
        comment = ""
        if self.chance(0.1) and not self.careful:
            self.note("comment")
            comment = self.random.choice([" # no 'quote $(p0) `", " #", " # p0; (("])
        return comment + "\n" + "".join(bodies)

    def number(self) -> str:
        self.count += 1
        return str(self.count)

    def name(self, letter: str) -> str:
        """A command's or file's own name."""
        name = letter + self.number()
        if self.dying:
            self.dead.add(name)
        return name

    def closed(self, make: Callable[[], str]) -> str:
        """`make` where here-documents must end before what comes behind."""
        bodies, self.bodies = self.bodies, []
        documents, self.documents = self.documents, 0
        within, self.within = self.within, 0
        self.inner += 1
        text = make()
        if self.bodies:
            text += self.feed()
        self.inner -= 1
        self.within = within
        self.bodies, self.documents = bodies, documents
        return text

    # commands

    def call(self) -> str:
        """One simple command with its number."""
        number = self.name("u")
        parts = [f"p{self.random.randrange(10)}", number]
        if self.chance(0.08) and not self.careful:
            parts[0] = self.spelled(parts[0])
        before = ""
        if self.chance(0.08):
            self.note("assignment: before a command")
            before = f"V{self.random.randrange(3)}={self.value()}" + self.space()
        if self.chance(0.05) and not self.flat:
            self.note("redirection: before the command")
            before += self.redirection() + self.space()
        most = [0, 0, 1, 1, 2] if self.depth < _DEEPEST else [0, 0, 1]
        parts += [self.word() for _ in range(self.random.choice(most))]
        if self.chance(0.05):
            self.note("reserved word: as an argument")
            words = "if then fi do done { } ! esac time in" + ("" if self.careful else " [[")
            parts.append(self.random.choice(words.split()))
        for _ in range(0 if self.flat else self.random.choice([0, 0, 0, 0, 0, 1, 1, 2])):
            at = self.random.randrange(1, len(parts) + 1)
            if at < len(parts):
                self.note("redirection: between words")
            waiting = self.bodies
            self.bodies = []
            redirection = self.redirection()
            if self.bodies and at < len(parts):
                at = len(parts)  # bodies follow in the order of their operators
            self.bodies = waiting + self.bodies
            parts.insert(at, redirection)
        if self.bodies and not (self.flat or self.plain or self.within) and self.chance(0.15):
            parts.append(self.document("<<", "E", "E", False))
        return before + "".join(part + self.space() for part in parts).rstrip(" \t\\\n")

    def spelled(self, name: str) -> str:
        ways = {
            "quoting: of the program": ['"p"' + name[1], "p'" + name[1] + "'", "\\" + name],
            "quoting: ansi program": ["$'\\x70'" + name[1], "$'\\160'" + name[1]],
            "braces: program": ["{" + name + ",p1}", "{" + name + ",}"],
            "line continuation: inside a word": ["p\\\n" + name[1]],
        }
        construct = self.random.choice(list(ways))
        if construct == "braces: program" and self.chance(0.7):
            return name
        self.note(construct)
        return self.random.choice(ways[construct])

    def sequence(self) -> str:
        """A list of commands."""
        self.depth += 1
        text = self.chain()
        while self.chance(0.35 / self.depth):
            text += self.separator() + self.chain()
        self.depth -= 1
        return text

    def separator(self) -> str:
        kind = self.random.randrange(8)
        if kind == 0 and not self.plain:
            self.note("list: &")
            return " & "
        if kind < 5:
            if self.inner and self.documents:
                return self.feed()  # bash 5.2 loses a semicolon there
            self.note("list: ;")
            return self.random.choice([" ; ", "; "])
        self.note("list: line feed")
        return self.feed() + self.random.choice(["", "\n", "  "])

    def chain(self) -> str:
        kind = self.random.randrange(14)
        if kind == 0:
            self.note("list: &&")
            return self.call() + " " + self.operator("&&") + self.gap() + self.pipeline()
        if kind == 1:
            self.note("list: ||")
            text = self.call() + " " + self.operator("||") + self.gap()
            self.dying += 1
            text += self.pipeline()
            self.dying -= 1
            return text
        if kind == 2:
            self.note("!")
            return self.random.choice(["! ", "! ! "]) + self.pipeline()
        if kind == 3:
            self.note("time")
            return (
                self.keyword("time")
                + self.random.choice([" ", " -p ", " -- ", " ! "])
                + (self.pipeline())
            )
        return self.pipeline()

    def gap(self) -> str:
        return self.feed() if self.chance(0.2) else " "

    def pipeline(self) -> str:
        text = self.assign() if self.chance(0.04) else self.command()
        while self.chance(0.12):
            bar = self.random.choice(["|", "|", "|&"])
            self.note("pipeline: " + bar)
            text += " " + self.operator(bar) + self.gap() + self.command()
        return text

    def command(self) -> str:
        if self.depth > _DEEPEST or self.chance(0.5):
            return self.call()
        self.depth += 1
        some = self.random.choices(_COMPOUNDS, k=2)
        make = min(some, key=lambda way: self.made[way.__name__])
        self.made[make.__name__] += 1
        self.within += 1
        text = make(self)
        self.within -= 1
        if self.chance(0.15) and make not in _NO_REDIRECTION:
            self.note("redirection: behind a compound command")
            text += " " + self.redirection()
        self.depth -= 1
        return text

    def block(self) -> str:
        """A list that a reserved word follows."""
        text = self.sequence()
        return (
            text + self.random.choice(["; ", self.feed()])
            if not self.bodies
            else (text + self.feed())
        )

    def ended(self) -> str:
        """A list, and what separates it from a command that follows."""
        text = self.sequence()
        return text + (self.feed() if (self.inner and self.documents) or self.bodies else "; ")

    def never(self) -> str:
        self.dying += 1
        text = self.block()
        self.dying -= 1
        return text

    def group(self) -> str:
        self.note("group: { }")
        return "{" + self.gap() + self.block() + "}"

    def subshell(self) -> str:
        self.note("subshell: ( )")
        return "( " + self.sequence() + (self.feed() if self.bodies else "") + ")"

    def condition_if(self) -> str:
        self.note("if")
        if self.chance(0.5):
            text = self.keyword("if") + " " + self.call() + self.stop() + self.keyword("then")
            text += " " + self.block()
            if self.chance(0.5):
                self.note("elif")
                self.dying += 1
                text += "elif " + self.call() + self.stop() + "then " + self.block()
                self.dying -= 1
            return text + ("else " + self.never() if self.chance(0.5) else "") + "fi"
        self.note("else")
        text = "if no; then " + self.never() + "else " + self.block()
        return text + self.keyword("fi")

    def stop(self) -> str:
        return self.feed() if self.bodies or self.chance(0.3) else "; "

    def loop_for(self) -> str:
        self.note("for: in")
        name = "V" + str(self.random.randrange(3))
        words = self.random.choice(["a", "a b", "'a b'", "{a,b}", '"$V0"', "a\\ b"])
        return f"for {name} in {words}" + self.stop() + self.body(self.block())

    def body(self, text: str) -> str:
        if self.chance(0.2):
            self.note("loop: braces for a body")
            return "{ " + text + "}"
        return self.keyword("do") + " " + text + self.keyword("done")

    def loop_arguments(self) -> str:
        self.note("for: over the arguments")
        head = "for V0" + (self.feed() if self.bodies else self.random.choice([" ", "; ", "\n"]))
        head += "do "
        return head + self.never() + "done"

    def loop_arithmetic(self) -> str:
        self.note("for: arithmetic")
        head = self.random.choice(["for ((i=0;i<1;i++)); ", "for (( i = 0 ; i < (1) ; i++ )) "])
        return head + self.body(self.block())

    def loop_while(self) -> str:
        self.note("while")
        if self.chance(0.5):
            return "while " + self.call() + self.stop() + "do " + self.ended() + "break; done"
        return "while no; do " + self.never() + "done"

    def loop_until(self) -> str:
        self.note("until")
        return "until " + self.call() + self.stop() + "do " + self.never() + "done"

    def select(self) -> str:
        self.note("select")
        return (
            "select V0 in a b" + self.stop() + "do " + self.ended() + "break; done <<<1 2>/dev/null"
        )

    def case(self) -> str:
        self.note("case")
        subject = self.random.choice(["a", "'a'", '"a"', "${Z:-a}"])
        text = f"case {subject} in" + self.gap()
        if self.chance(0.3):
            self.note("case: parenthesis before a pattern")
            text += (
                "("
                + self.random.choice(["b", "b|c", "[x-z]*", "b" if self.inner else "esac"])
                + ") "
            )
        else:
            text += self.random.choice(["b", "b | c", "'a b'", "if"]) + ")"
        self.dying += 1
        text += (self.arm() if self.chance(0.5) else " ") + ";; "
        self.dying -= 1
        text += self.random.choice(["a", "?", "[a]", "x|a", "*"]) + ")" + self.space()
        text += self.arm()
        end = self.random.choice([";;", ";&", ";;&", ""])
        if end:
            self.note("case: " + end)
            text += self.operator(end) + " "
        if end == ";&":
            text += "x) " + self.arm() + ";; "
        elif end == ";;&":
            text += "?) " + self.arm() + ";; "
        elif end == ";;":
            self.note("case: empty arm")
            text += "q) ;; "
        return text + "esac"

    def arm(self) -> str:
        """The commands of a case's arm, before their ;; or esac."""
        return self.sequence() + (self.feed() if self.bodies or self.chance(0.3) else " ; ")

    def test(self) -> str:
        self.note("[[ ]]")
        ways = [
            lambda: '"' + self.substitution() + '" == 1',
            lambda: "-n " + self.substitution(),
            lambda: "! -e nothing && ( a < b || c > d )",
            lambda: "abc == a* || abc == @(x|abc)",
            lambda: "abc =~ ^(a|b c).*$ && -n x",
            lambda: self.substitution() + " -eq 1",
            lambda: "a = a" + self.feed() + "&& b",
        ]
        way = self.random.randrange(len(ways))
        if way == 3:
            self.note("[[ ]]: extended pattern")
        elif way == 4:
            self.note("[[ ]]: regular expression")
        return self.keyword("[[") + " " + ways[way]() + " ]]"

    def arithmetic(self) -> str:
        self.note("(( ))")
        return (
            "((" + self.random.choice([" 1 + ", "(2) - ", "x=", "1 >= "]) + self.expression() + "))"
        )

    def nested_subshell(self) -> str:
        self.note("((: two subshells")
        return self.two_subshells()

    def two_subshells(self) -> str:
        self.plain += 1
        self.careful += 1
        self.depth += _DEEPEST
        text = "((" + self.call() + self.random.choice([") && (", ") | ("]) + self.call() + "))"
        self.depth -= _DEEPEST
        self.careful -= 1
        self.plain -= 1
        return text

    def function(self) -> str:
        self.functions += 1
        name = f"f{self.functions}{'x' * self.depth}{self.count}"
        head = self.random.choice(
            [f"{name}() ", f"{name} ( )", f"function {name} ", f"function {name}()"]
        )
        head += self.gap()
        self.note(
            "function: name ()" if head[0] == "f" and "function" not in head else "function: word"
        )
        call = self.chance(0.7)
        if not call:
            self.dying += 1
        body = self.random.choice(
            [Grammar.group, Grammar.subshell, Grammar.condition_if, Grammar.loop_for]
        )
        text = head + body(self)
        if self.chance(0.3):
            self.note("function: redirection")
            text += " " + self.redirection()
        if not call:
            self.dying -= 1
            return text
        lines = self.bodies or (self.inner and self.documents)
        return "{ " + text + (self.feed() if lines else "; ") + name + "; }"

    def coproc(self) -> str:
        if self.coprocess or self.plain or self.inner:
            return self.call()
        self.coprocess = True
        self.note("coproc")
        text = self.random.choice(
            [
                lambda: "coproc " + self.call(),
                lambda: "coproc " + self.group(),
                lambda: "coproc NAMED " + self.group(),
                lambda: "coproc NAMED " + self.subshell(),
            ]
        )()
        return "{ " + text + (self.feed() if self.bodies else "; ") + "wait; }"

    def assign(self) -> str:
        ways = {
            "assignment": lambda: "V0=" + self.value(),
            "assignment: +=": lambda: "V1+=" + self.value(),
            "array: compound": lambda: "A=(" + self.words() + ")",
            "array: +=(..)": lambda: (
                "A+=(" + self.words() + (" " if self.bodies else self.feed()) + ")"
            ),
            "array: [key]=": lambda: "A=([0]=a [1]=" + self.substitution() + ")",
            "array: element": lambda: "A[" + self.expression() + "]=" + self.value(),
            "array: declare": lambda: "declare -a A=(" + self.words() + ")",
            "declaration": lambda: "export V2=" + self.value(),
        }
        construct = self.pick(ways)
        self.note(construct)
        text = ways[construct]()
        # bash loses backslashes of a compound assignment in a substitution
        return "A=(a)" if self.inner and "=(" in text and "\\" in text else text

    def alias(self) -> str:
        self.note("alias")
        return "alias p0='p1 u999'"

    # words

    def words(self) -> str:
        some = [self.word() for _ in range(self.random.randrange(3))]
        return " ".join("x" + word if word[0] == "[" else word for word in some)

    def word(self) -> str:
        """An argument of one or more pieces."""
        text = self.piece()
        while self.chance(0.25):
            text += self.piece()
        return "x" + text if text.startswith("#") else text

    def value(self) -> str:
        return self.random.choice(["", "a", "'a b'", '"$V0"', "a~b", "*"]) + (
            self.substitution() if self.chance(0.3) else ""
        )

    def piece(self) -> str:
        some = _CAREFUL if self.careful else _FLAT if self.depth > _DEEPEST + 1 else _PIECES
        construct = "${..}" if self.chance(0.2) else self.pick(some)
        self.note(construct)
        return _PIECES[construct](self)

    def expansion(self) -> str:
        """${..} in one of its forms."""
        word = self.random.choice(["d", "'d e'", '"$V0"', "\\}", "$'\\t'"])
        if self.careful:
            word = "d"
        if self.chance(0.3):
            self.dying += 1  # bash expands it only when the variable's state asks for it
            word = self.substitution()
            self.dying -= 1
        plain = [form for form in _FORMS if "[" not in form]
        form = self.pick(plain if self.careful else _FORMS)[2:-1]
        self.note("${" + form + "}")
        quoted = self.chance(0.5)
        if quoted and ("'" in word or "\\" in word):
            word = "d"
        if form == "V0:?W":  # bash stops where the variable has no value
            form = "HOME:?W"
        elif form == "!V0":
            form = "!NAME"
        text = self.dollar() + "{" + form.replace("W", word) + "}"
        return f'"{text}"' if quoted else text

    def expression(self) -> str:
        """An arithmetic expression; the commands in it print one number."""
        text = self.random.choice(["1", "(1)", "1+1", "x", "1?2:3"])
        if self.chance(0.5):
            self.depth += _DEEPEST
            self.flat += 1
            self.careful += 1
            text += "+" + self.substitution()
            self.careful -= 1
            self.flat -= 1
            self.depth -= _DEEPEST
        return text

    def substitution(self) -> str:
        """$(..) or `..` with commands in it; it never has blanks outside."""
        self.depth += 1
        if self.chance(0.35):
            text = self.backticks(False)
        else:
            self.note("$( )")
            text = self.dollar() + "(" + self.inside() + ")"
        self.depth -= 1
        return text

    def inside(self) -> str:
        def make() -> str:
            before = self.feed() if self.chance(0.1) else " "
            text = self.call() if self.flat or self.depth > _DEEPEST else self.sequence()
            if text.startswith(("time", "t\\\n", "!")):
                # right behind the parenthesis bash takes `time` for a program
                before += "p0 " + self.name("u") + " && "
            return before + text

        return self.closed(make)

    def backticks(self, quoted: bool) -> str:
        self.note("` `")
        self.depth += 2
        self.plain += 1
        lists = not self.flat and self.chance(0.3)
        text = self.closed(self.sequence if lists else self.call)
        self.plain -= 1
        self.depth -= 2
        if "`" in text:
            self.note("` `: nested")
        text = text.replace("\\", "\\\\").replace("`", "\\`")
        if quoted:
            text = text.replace('"', '\\"')
        return "`" + text + "`"

    # redirections

    def file(self) -> str:
        number = self.name("w")
        return self.random.choice([number, f"'{number}'", f'"{number}"', "./" + number])

    def redirection(self) -> str:
        construct = self.pick(_REDIRECTIONS)
        if construct.startswith("here-document") and (self.plain or (self.inner and self.within)):
            construct = "redirection: 2>&1"
        self.note(construct)
        return _REDIRECTIONS[construct](self)

    def document(self, operator: str, spelled: str, end: str, literal: bool) -> str:
        if end:
            mark = self.number()
            spelled, end = spelled.replace("E", "E" + mark), end.replace("E", "E" + mark)
        lines = ["plain ' text", "\ttab", 'a "quote', "E E", "ends \\\\"]
        if literal:
            lines += ["$(p0", "`", "${", *(() if self.inner else ("a\\",))]
        else:
            lines += ["\\$(p0", "\\`", "$V0 ${V0:-x}"]
        body = [self.random.choice(lines) for _ in range(self.random.randrange(4))]
        if not literal and self.chance(0.4):
            self.note("here-document: commands in the body")
            keep, self.bodies = self.bodies, []
            body.append("a " + self.substitution() + " b")
            self.bodies = keep
        if not literal and self.chance(0.1):
            self.note("here-document: joined lines")
            body.append("joined \\\n" + end)
        strip = operator == "<<-"
        text = "".join(("\t" if strip and self.chance(0.5) else "") + line + "\n" for line in body)
        text += ("\t\t" if strip and self.chance(0.5) else "") + end + "\n"
        self.bodies.append(text)
        self.documents += 1
        if len(self.bodies) > 1:
            self.note("here-document: several on a line")
        return self.operator("<<") + operator[2:] + self.random.choice(["", " "]) + spelled


_FORMS = [
    "${" + form + "}"
    for form in (
        "V0 #V0 V0:-W V0-W V0:=W V0=W V0:+W V0+W V0:?W V0#W V0##W V0%W V0%%W V0/a/W V0//a/W "
        "V0/#a/W V0/%a/W V0^ V0^^a V0, V0,,a V0:1 V0:1:2 !V0 !V@ V0@A V0@Q A[0] A[@] #A[@] "
        "!A[@] A[1+1]:-W @ * # ? ! $ - 1 #1"
    ).split()
]

_PIECES: dict[str, Callable[[Grammar], str]] = {
    "plain": lambda g: g.random.choice(["a", "b-c", "d=1", "@%+^", "a#b", ",."]),
    "quoting: '..'": lambda g: g.random.choice(["'a b'", "''", "'$(p0) `'", "'\\'"]),
    'quoting: ".."': lambda g: g.random.choice(['"a b"', '""', '"it\'s"', '"\\"\\$\\`\\\\\\a"']),
    "quoting: $'..'": lambda g: g.random.choice(
        ["$'a\\tb'", "$'\\''", "$'\\x41\\102\\u00e9'", "$'\\cB\\q'"]
    ),
    'quoting: $".."': lambda g: g.random.choice(['$"a b"', '$"$V0"']),
    "quoting: \\": lambda g: g.random.choice(["\\ ", "\\$", "\\'", "\\;", "\\a", "\\#"]),
    "line continuation: in a word": lambda g: "a\\\nb",
    "line continuation: in quotes": lambda g: '"a\\\nb"',
    "braces: list": lambda g: g.random.choice(
        ["{a,b}", "{a,'b c'}", "x{,y}", '{"$V0",z}', "{\\,,a}"]
    ),
    "braces: nested": lambda g: g.random.choice(["{a,{b,c}}", "{{a,b},c}x", "{a,b}{c,d}"]),
    "braces: sequence": lambda g: g.random.choice(
        ["{1..3}", "{03..1}", "{a..c}", "{1..9..4}", "{-2..2}"]
    ),
    "braces: none": lambda g: g.random.choice(
        ["{}", "{a}", "{a,b", "a}", "{1..}", "{a..3}", "{..}"]
    ),
    "tilde": lambda g: g.random.choice(["~", "~/x", "a~", "~/'y z'"]),
    "glob": lambda g: g.random.choice(["*", "w?", "[ab]", "[!a]*", "[a", "a]"]),
    "$x": lambda g: g.random.choice(
        ["$V0", '"$V0"', '"$V0$V1"', "$?", "$$", "$!", "$-", "$#", "$0"]
    ),
    "$@": lambda g: g.random.choice(['"$@"', "$*", '"$*"', '"a$@b"', "$1"]),
    "${..}": Grammar.expansion,
    "$(..) in a word": lambda g: g.substitution(),
    '"..$(..).."': lambda g: '"a ' + g.dollar() + "(" + g.inside() + ') b"',
    '"..`..`.."': lambda g: '"a ' + g.backticks(True) + '"',
    "$((..))": lambda g: g.dollar() + "((" + g.expression() + "))",
    '"$((..))"': lambda g: '"$((' + g.expression() + '))"',
    "$((..)..)": lambda g: "$" + g.two_subshells(),
    "$[..]": lambda g: "$[" + g.expression() + "]",
    "<(..)": lambda g: "<(" + g.inside() + ")",
    ">(..)": lambda g: ">(" + g.inside() + ")" if not g.plain else "a",
    "a dollar": lambda g: g.random.choice(["$.", "a$,", '"$"', '"a$ "']),
}

_FLAT = [
    name for name in _PIECES if "(" not in name and name not in ('"..`..`.."', "${..}", "$[..]")
]

_CAREFUL = ["plain", "line continuation: in a word", "tilde", "$x", "$@", "${..}", "$((..))"]

_REDIRECTIONS: dict[str, Callable[[Grammar], str]] = {
    "redirection: >": lambda g: g.random.choice([">", "> ", "1>", "2> "]) + g.file(),
    "redirection: >>": lambda g: g.operator(">>") + g.file(),
    "redirection: >|": lambda g: g.operator(">|") + " " + g.file(),
    "redirection: <": lambda g: g.random.choice(["<f0", "< 'f1'", "0<f0", "<\\\nf0"]),
    "redirection: <>": lambda g: g.operator("<>") + g.file(),
    "redirection: &>": lambda g: g.operator("&>") + " " + g.file(),
    "redirection: &>>": lambda g: g.operator("&>>") + g.file(),
    "redirection: >& file": lambda g: ">&" + " " + g.file(),
    "redirection: 2>&1": lambda g: g.random.choice(["2>&1", ">&2", "3>&1", "2>& 1", "4>&2"]),
    "redirection: close": lambda g: g.random.choice(["3>&-", "5<&-", "4<& -"]),
    "redirection: <&": lambda g: g.random.choice(["<&0", "3<&0", "4<&0-"]),
    "redirection: {fd}": lambda g: (
        "{fd" + g.number() + "}" + g.random.choice([">", ">>"]) + g.file()
    ),
    "redirection: to a substitution": lambda g: "> >(" + g.inside() + ")" if not g.plain else ">&1",
    "redirection: from a substitution": lambda g: "< <(" + g.inside() + ")",
    "redirection: computed target": lambda g: "<f" + g.dollar() + "((0*(" + g.expression() + ")))",
    "here-string": lambda g: (
        g.operator("<<<") + g.random.choice([" a", "'a b'", '"$V0"', g.substitution()])
    ),
    "here-document": lambda g: g.document("<<", "E", "E", False),
    "here-document: <<-": lambda g: g.document("<<-", "E", "E", False),
    "here-document: quoted": lambda g: g.document(
        "<<", g.random.choice(["'E'", '"E"', "\\E"]), "E", True
    ),
    "here-document: partly quoted": lambda g: g.document(
        "<<", g.random.choice(['E"F"', "E\\F"]), "EF", True
    ),
    "here-document: quoted with a blank": lambda g: g.document("<<", "'E F'", "E F", True),
    "here-document: empty delimiter": lambda g: g.document("<<", "''", "", True),
    "here-document: <<- quoted": lambda g: g.document("<<-", "'E'", "E", True),
}

_COMPOUNDS: list[Callable[[Grammar], str]] = [
    Grammar.group,
    Grammar.subshell,
    Grammar.condition_if,
    Grammar.loop_for,
    Grammar.loop_arguments,
    Grammar.loop_arithmetic,
    Grammar.loop_while,
    Grammar.loop_until,
    Grammar.select,
    Grammar.case,
    Grammar.test,
    Grammar.arithmetic,
    Grammar.nested_subshell,
    Grammar.function,
    Grammar.coproc,
    Grammar.assign,
    Grammar.alias,
]
_NO_REDIRECTION = (Grammar.select, Grammar.coproc, Grammar.function, Grammar.assign, Grammar.alias)
