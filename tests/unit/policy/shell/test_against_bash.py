"""The reader against bash itself: what it executes, and what it accepts."""

from collections import Counter
from random import Random

import pytest

from tests.shell.compare import faults
from tests.shell.fuzz import failed, rejected
from tests.shell.grammar import Grammar
from tests.shell.oracle import Oracle
from tests.shell.soup import bash_accepts, mangled, soup

# A sentence that bash rejects, or that the reader refuses to be sure, is rare in the grammar.
_REFUSED = 0.005


def compare(seed: int, count: int) -> tuple[Counter[str], Counter[str], list[str]]:
    """How often each construct stood, how often in a faulty sentence, and the sentences."""
    grammar = Grammar(seed)
    sentences = [grammar.sentence() for _ in range(count)]
    with Oracle() as oracle:
        runs = oracle.run_all([sentence.text for sentence in sentences])
    used: Counter[str] = Counter()
    faulty: Counter[str] = Counter()
    report: list[str] = []
    for sentence, run in zip(sentences, runs, strict=True):
        used.update(sentence.constructs)
        found = faults(sentence, run)
        if found:
            faulty.update(sentence.constructs)
            report.append(f"{found}\n{sentence.text}\n{run.stderr}")
    return used, faulty, report


def judge(used: Counter[str], faulty: Counter[str], report: list[str], count: int) -> None:
    """No command is missed or misread; hardly a sentence is refused or over-read."""
    grave = [text for text in report if "'mis" in text.partition("\n")[0]]
    worst = [f"{name}: {faulty[name]}/{used[name]}" for name, _ in faulty.most_common(10)]
    assert not grave, "\n\n".join(grave[:5])
    assert len(report) <= max(2, _REFUSED * count), "\n".join([*worst, *report[:5]])


def test_generated_commands_are_read_as_bash_runs_them() -> None:
    used, faulty, report = compare(seed=2026, count=1_200)
    judge(used, faulty, report, 1_200)
    assert len(used) > 140


@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_twenty_thousand_generated_commands() -> None:
    used: Counter[str] = Counter()
    faulty: Counter[str] = Counter()
    report: list[str] = []
    for seed in range(10):
        some, wrong, texts = compare(seed, 2_500)
        used += some
        faulty += wrong
        report += texts
    for name, number in sorted(used.items()):
        print(f"{name:45} {number:6} used {faulty[name]:4} in a faulty sentence")
    print(f"{len(report)} of 25000 sentences faulty")
    judge(used, faulty, report, 25_000)


def test_what_bash_rejects_is_never_read() -> None:
    random, grammar = Random(1), Grammar(1)
    texts = [soup(random) for _ in range(1_500)]
    texts += [mangled(grammar.sentence().text, random) for _ in range(700)]
    assert rejected(texts) == []


@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_what_bash_rejects_is_never_read_of_many() -> None:
    random, grammar = Random(2), Grammar(2)
    texts = [soup(random) for _ in range(40_000)]
    texts += [mangled(grammar.sentence().text, random) for _ in range(10_000)]
    assert rejected(texts) == []


@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_a_million_random_texts_are_answered() -> None:
    random = Random(3)
    alphabet = " \t\n'\"`$(){}[]<>|&;\\#!*?~=+-:/,.@%^abE01é\ud800\x00\x7f"
    for _ in range(100):
        texts = ["".join(random.choices(alphabet, k=random.randint(1, 40))) for _ in range(10_000)]
        assert failed(texts) == []


def test_the_judge_itself() -> None:
    assert bash_accepts(["p0 a", "p0 (", "[[ a b ]]", "if p0; then p1; fi"]) == [
        True,
        False,
        False,
        True,
    ]
