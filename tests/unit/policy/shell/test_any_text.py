"""Any string is answered, and every span lies inside it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.policy.ruling.shell.reading import Word, read

PIECES = st.sampled_from(
    [
        *"if then else fi for while do done case esac in { } ( ) (( )) [[ ]] ; ;; & && |".split(),
        *"|| < > << <<- <<< >& &> $( ${ $(( ` \" ' $' $\" \\ # = ~ * ? {a,b} {1..3} $x".split(),
        *"$@ a b x= x=( f() E 2".split(),
        *(" ", "\n", "\\\n", "<<E\n", "\nE\n", "<<'E'\n", "\t", "é", "\0"),
    ]
)


def check(text: str, portable: bool) -> None:
    reading = read(text, portable)
    assert "failed" not in reading.unparseable
    words: list[Word] = []
    for command in reading.commands:
        assert 0 <= command.start <= command.end <= len(text)
        words += command.words
        words += [one.value for one in command.assignments if one.value is not None]
        command.stdin()
    for redirect in reading.redirects:
        assert 0 <= redirect.start <= redirect.end <= len(text)
        words += [word for word in (redirect.target, redirect.body) if word is not None]
    for word in words:
        assert 0 <= word.start <= word.end <= len(text)
        assert (word.text is None) == (word.parts != ())
        assert word.text is not None or word.prefix + word.suffix is not None
        _ = word.basename, word.path, word.many
        for part in word.parts:
            assert 0 <= part.start <= part.end <= len(text)


@given(st.text(), st.booleans())
@settings(max_examples=500, deadline=None)
def test_any_text(text: str, portable: bool) -> None:
    check(text, portable)


@given(st.lists(PIECES, max_size=30).map("".join), st.booleans())
@settings(max_examples=1_500, deadline=None)
def test_any_tokens(text: str, portable: bool) -> None:
    check(text, portable)


@given(st.lists(st.tuples(PIECES, st.sampled_from(["", " "])).map("".join), max_size=30))
@settings(max_examples=500, deadline=None)
def test_the_same_text_is_read_the_same_way(pieces: list[str]) -> None:
    text = "".join(pieces)
    first, second = read(text), read(text)
    assert first.unparseable == second.unparseable
    assert [one.start for one in first.commands] == [one.start for one in second.commands]
