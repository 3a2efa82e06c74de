"""Looks for a text that the reader misreads: python -m tests.shell.fuzz [SECONDS [SEED]].

Three kinds in turn: tokens thrown together and sentences with a piece changed must not be read
where bash rejects them, sentences of the grammar must be read as bash runs them, and characters at
random must be answered at all. Ends with 1 when something was found.
"""

import sys
from random import Random
from time import monotonic, time

from barry_cli.policy.ruling.shell.reading import read
from tests.shell.compare import faults
from tests.shell.grammar import Grammar
from tests.shell.oracle import Oracle
from tests.shell.soup import bash_accepts, mangled, soup

_ALPHABET = " \t\n'\"`$(){}[]<>|&;\\#!*?~=+-:/,.@%^abE01\u00e9\ud800\x00\x7f"


def rejected(texts: list[str]) -> list[str]:
    """Those that the reader reads and bash rejects."""
    mine = [text for text in texts if not read(text).unparseable]
    accepted = bash_accepts(mine)
    return [text for text, fine in zip(mine, accepted, strict=True) if not fine]


def failed(texts: list[str]) -> list[str]:
    """Those on which the reader itself failed."""
    return [text for text in texts if "reader failed" in read(text).unparseable]


def main(seconds: float, seed: int) -> int:
    random, grammar = Random(seed), Grammar(seed)
    end = monotonic() + seconds
    counts = dict.fromkeys(("soup", "mangled", "sentences", "characters"), 0)
    found = 0
    with Oracle() as oracle:
        while monotonic() < end:
            sentences = [grammar.sentence() for _ in range(200)]
            runs = oracle.run_all([sentence.text for sentence in sentences])
            texts = {
                "soup": [soup(random) for _ in range(500)],
                "mangled": [mangled(sentence.text, random) for sentence in sentences],
                "characters": [
                    "".join(random.choices(_ALPHABET, k=random.randint(1, 60)))
                    for _ in range(20_000)
                ],
            }
            problems = [
                (fault, sentence.text)
                for sentence, run in zip(sentences, runs, strict=True)
                for fault in faults(sentence, run)
            ]
            bash = [*texts["soup"], *texts["mangled"]]
            problems += [("bash rejects", text) for text in rejected(bash)]
            problems += [("failed", text) for some in texts.values() for text in failed(some)]
            for problem, text in problems:
                print(f"{problem}\n{text!r}", flush=True)
            found += len(problems)
            counts["sentences"] += len(sentences)
            for kind, some in texts.items():
                counts[kind] += len(some)
    print(f"seed {seed}: {counts}, {found} found")
    return 1 if found else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(
        main(
            float(arguments[0]) if arguments else 600.0,
            int(arguments[1]) if len(arguments) > 1 else int(time()),
        )
    )
