"""Blocks in what a model says."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.turns.fences import extract_fence

FOUND = [
    ("```json\n{}\n```", "{}"),
    ("before\n```json\n{}\n```\nafter", "{}"),
    ("````json\n{}\n````", "{}"),
    ("`````json\n{}\n`````", "{}"),
    ("````json\n{}\n``````", "{}"),
    ("```json\n```", ""),
    ("```json\n\n\n```", "\n"),
    ("```json title=x\n{}\n```  ", "{}"),
    ("``` json\n{}\n```", "{}"),
    # the last complete one
    ("```json\n1\n```\n```json\n2\n```", "2"),
    ("```json\n1\n```\n```json\n2\n", "1"),
    ("```json\n1\n```\n```py\n2\n```", "1"),
    # four backticks are preferred, wherever they stand
    ("````json\n1\n````\n```json\n2\n```", "1"),
    ("```json\n2\n```\n````json\n1\n````", "1"),
    ("````json\n1\n\n```json\n2\n```", "2"),
    # shorter fences in longer ones are text
    ("````md\n```json\n1\n```\n````", None),
    ("````json\n```\n1\n```\n````", "```\n1\n```"),
    ("````json\n````py\n````", "````py"),
    # in a block of three, labelled fences open blocks of their own
    ("```md\na\n```py\nb\n```\nc\n```", "a\n```py\nb\n```\nc"),
    ("```md\na\n```md\nb\n```\nc\n```", "a\n```md\nb\n```\nc"),
    ("```md\na\n````py\n```\n````\nc\n```", "a\n````py\n```\n````\nc"),
    # a block that was never closed doesn't hide the next
    ('```json\n{"bad\n```json\n{"a": 1}\n```', '{"a": 1}'),
    ("```\nplain\n```\n```json\n1\n```", "1"),
    ("```\nnever closed\n```json\n1\n```", "1"),
    # backticks in JSON strings
    ('```json\n{"a": "```"}\n```', '{"a": "```"}'),
    ('```json\n{"a": "```py\\nx\\n```"}\n```', '{"a": "```py\\nx\\n```"}'),
    ('```json\n{"a": "```py\nx\n```\n"}\n```', '{"a": "```py\nx\n```\n"}'),
    ('```json\n{"a": "\\"```"}```', '{"a": "\\"```"}'),
    ('```json\n{"a": 1} ```\nafter', '{"a": 1}'),
    ('```json\n"```"\n```', '"```"'),
    # not JSON: a stray quote is a letter
    ('```md\n5" wide\n```\nand "more"\n```py\n```', '5" wide'),
    # line ends and indentation
    ('before\r\n```json\r\n{\r\n"a": 1\r\n}\r\n```\r\n', '{\n"a": 1\n}'),
    ("````json\r\n{}\r\n````\r\n", "{}"),
    ("- a\n  ```json\n  {\n    1\n  }\n  ```", "{\n  1\n}"),
    ('\t```json\n\t{"a": 1}\n\t```', '{"a": 1}'),
    ("   ````json\n   a\n b\n   ````", "a\n b"),
]
NONE = [
    "",
    "json",
    "```json",
    "```json\n{}",
    "```js\n{}\n```",
    "```jsonc\n{}\n```",
    "```JSON\n{}\n```",
    "``json\n{}\n``",
    "~~~json\n{}\n~~~",
    "```\njson\n```",
    "text ```json\n{}\n``",
    "````json\n{}\n```",
]


@pytest.mark.parametrize(("text", "block"), FOUND, ids=range(len(FOUND)))
def test_blocks_are_found(text: str, block: str | None) -> None:
    label = "md" if "```md" in text and not text.startswith("````") else "json"
    assert extract_fence(text, label) == block


@pytest.mark.parametrize("text", NONE, ids=range(len(NONE)))
def test_what_is_no_such_block(text: str) -> None:
    assert extract_fence(text, "json") is None


def test_without_a_label_there_is_nothing_to_find() -> None:
    assert extract_fence("```\n1\n```", "") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just("```") | st.just("\n```\n"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
CALM = st.text(st.characters(codec="utf-8", exclude_characters="`\r"), max_size=30)


@given(
    value=JSON,
    before=CALM,
    after=CALM,
    ticks=st.integers(3, 6),
    pretty=st.booleans(),
    crlf=st.booleans(),
)
def test_json_comes_out_as_it_went_in(
    value: Any, before: str, after: str, ticks: int, pretty: bool, crlf: bool
) -> None:
    payload = json.dumps(value, indent=2 if pretty else None, ensure_ascii=False)
    fence = "`" * ticks
    text = f"{before}\n{fence}result\n{payload}\n{fence}\n{after}"
    found = extract_fence(text.replace("\n", "\r\n") if crlf else text, "result")
    assert found is not None
    assert json.loads(found) == value
    if not crlf:
        assert found == payload


@given(payload=CALM, ticks=st.integers(3, 6), indent=st.sampled_from(["", " ", "   ", "\t"]))
def test_any_text_comes_out_as_it_went_in(payload: str, ticks: int, indent: str) -> None:
    fence = indent + "`" * ticks
    lines = "".join(f"{indent}{line}\n" for line in payload.split("\n"))
    assert extract_fence(f"{fence}result\n{lines}{fence}", "result") == payload


@given(st.text(st.sampled_from('`json\n \r"{}[],:1~\\'), max_size=60))
def test_any_text_can_be_searched(text: str) -> None:
    found = extract_fence(text, "json")
    assert found is None or "```json" in text.replace("``` json", "```json").replace(" ", "")


@pytest.mark.parametrize(
    "piece", ["```json\n", "```json\n[", '```json\n["', "````json\n", "```\n", "```json\n[1,\n"]
)
def test_long_texts_take_time_in_proportion(piece: str) -> None:
    def took(count: int) -> float:
        text = piece * count
        began = time.process_time()
        extract_fence(text, "json")
        return time.process_time() - began

    took(100)
    short = min(took(2_000) for _ in range(5))
    assert took(16_000) < 8 * 3 * max(short, 1e-4)


def test_blocks_within_blocks_take_time_in_proportion() -> None:
    def took(depth: int) -> float:
        text = "```json\n" * depth + "```\n" * depth
        began = time.process_time()
        found = extract_fence(text, "json")
        assert found == text[8:-5]
        return time.process_time() - began

    took(200)
    short = min(took(1_500) for _ in range(5))
    assert min(took(24_000) for _ in range(2)) < 16 * 4 * max(short, 1e-4)
