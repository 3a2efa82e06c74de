"""Bash's tokens thrown together, and what `bash -n` makes of them."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from random import Random

_TOKENS = [
    *"if then else elif fi for while until do done case esac in select".split(),
    *"function time coproc".split(),
    *"{ } ! [[ ]] ( ) (( )) ; ;; ;& ;;& & && | || |& < > >> << <<- <<<".split(),
    *"<& >& >| <> &> &>>".split(),
    *"$( $(( ${ } ` \" ' $' $\" \\ # a b x=1 a=( a[ ] [ = == =~ -f -eq ~ * ? {a,b} {1..3}".split(),
    *"$x $@ \"$x\" 'q' E 2 {fd} >( <( f() () declare eval - -- -p $[ @( !( +( .. , echo".split(),
    *("\n", "\\\n", "<<E", "<<'E'", "\nE\n"),
    *[" "] * 12,
    *["\n"] * 3,
    *[" a "] * 4,
    *["; "] * 4,
]
_ERRORS = ("syntax error", "unexpected", "conditional", "unterminated here-document")


def soup(random: Random) -> str:
    """A few tokens, which are rarely valid bash."""
    return "".join(
        random.choice(_TOKENS) + (" " if random.random() < 0.45 else "")
        for _ in range(random.randint(1, 9))
    )


def mangled(text: str, random: Random) -> str:
    """The text with a piece of it lost, doubled, or replaced by a token."""
    at = random.randrange(len(text) + 1)
    end = min(len(text), at + random.randint(1, 4))
    middle = random.choice(["", text[at:end] * 2, random.choice(_TOKENS)])
    return text[:at] + middle + text[end:]


def bash_accepts(texts: list[str], workers: int = 2) -> list[bool]:
    """For each text, whether bash reads it without an error. Nothing runs."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(_accepts, texts))


def _accepts(text: str) -> bool:
    argv = ["bash", "-n", "-c", "--", text]
    env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    done = subprocess.run(argv, capture_output=True, env=env, timeout=20, check=False)
    said = done.stderr.decode("utf-8", "replace")
    return done.returncode == 0 and not any(error in said for error in _ERRORS)
