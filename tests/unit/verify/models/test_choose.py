"""Which step a conversation gets: by examples of real wrapping, and by rules that always hold."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from barry_cli.verify.models.choose import choose, new_results, own_call_id, rounds
from barry_cli.verify.models.reading import user_turns
from barry_cli.verify.models.script import Call, Drop, Fail, Rule, Say, Script, ToolCall
from barry_cli.verify.models.shapes import ModelRequest, OfferedTool, Turn

CALL = Call(tools=(ToolCall(tool="shell"),))
TOOLS = (OfferedTool("shell"),)


def asked(*turns: Turn, tools=TOOLS, schema=None) -> ModelRequest:
    return ModelRequest("anthropic", "m", True, "", tuple(turns), tools, schema)


def user(text: str) -> Turn:
    return Turn("user", text)


def test_the_first_rule_that_matches_wins():
    script = Script(rules=(Rule(when="ab", then=("1",)), Rule(when="a", then=("2",))))
    assert choose(script, asked(user("abc"))).step == Say(text="1")
    assert choose(script, asked(user("ac"))).step == Say(text="2")
    assert choose(script, asked(user("c"))).step == script.default


def test_a_rule_for_any_text():
    script = Script(rules=(Rule(when="", then=("x",)),))
    assert choose(script, asked(user("whatever"))).step == Say(text="x")
    assert choose(script, asked()).step == script.default


def test_only_the_newest_user_text_counts():
    script = Script(rules=(Rule(when="old", then=("1",)),))
    turns = (user("old"), Turn("assistant", "1"), user("new"))
    choice = choose(script, asked(*turns))
    assert (choice.step, choice.text) == (script.default, "new")


def test_environment_messages_are_no_user_text():
    script = Script(rules=(Rule(when="prompt", then=(CALL, "done")),))
    prompt = {"type": "text", "text": "prompt"}
    environment = {"type": "text", "text": "<env_context>\n <cwd>/prompt</cwd>\n</env_context>"}
    reminder = {"type": "text", "text": "<system-reminder>\nprompt\n</system-reminder>"}
    for content in (
        [prompt],
        [environment, prompt],
        [prompt, reminder],
        [{"type": "text", "text": "<system-reminder>x</system-reminder> prompt"}],
    ):
        turns = user_turns(content)
        assert [turn.text for turn in turns] == ["prompt"]
        assert [turn.frame for turn in turns] == ["none"]
    apart = (*user_turns([environment]), *user_turns("prompt"))
    assert choose(script, asked(*apart)).step == CALL
    # A message of the system after the prompt, as newer harnesses send their environment.
    after = (*user_turns("prompt"), *user_turns("# Environment: prompt", "framed"))
    assert choose(script, asked(*after)).step == CALL


def test_a_text_that_only_holds_tags_somewhere_is_the_users():
    for text in ("what is <b>this</b>?", "<b>bold</b> and more", "a < b", "<open", "<a>b</c>"):
        assert user_turns(text) == [Turn("user", text)]
    assert user_turns("  ") == []
    assert user_turns(None) == []


def test_words_beside_a_tool_result_count_when_a_rule_names_them():
    script = Script(rules=(Rule(when="go", then=(CALL, "done")), Rule(when="steer", then=("aye",))))
    begun = (user("go"), Turn("assistant", call_id="c1"), Turn("tool", "x", call_id="c1"))

    def beside(text: str) -> Turn:
        return Turn("user", text, frame="beside")

    assert choose(script, asked(*begun, beside("please steer left"))).step == Say(text="aye")
    assert choose(script, asked(*begun, beside("an attachment"))).step == Say(text="done")
    # Quoting the prompt does not start it again.
    assert choose(script, asked(*begun, beside("you said: go"))).step == Say(text="done")


def test_framed_words_count_only_for_a_rule_that_asks_for_them():
    begun = (user("go"), Turn("assistant", call_id="c1"), Turn("tool", "x", call_id="c1"))
    hook = user_turns("<hook_prompt id='1'>steer</hook_prompt>")
    go = Rule(when="go", then=(CALL, "done"))
    plain = Script(rules=(go, Rule(when="steer", then=("aye",))))
    framed = Script(rules=(go, Rule(when="steer", then=("aye",), framed=True)))
    assert choose(plain, asked(*begun, *hook)).step == Say(text="done")
    assert choose(framed, asked(*begun, *hook)).step == Say(text="aye")
    answered = (*begun, *hook, Turn("assistant", "aye"))
    assert choose(framed, asked(*answered)).step == framed.default


def test_a_side_request_all_in_tags_is_matched_as_it_is():
    script = Script(rules=(Rule(when="hello", then=("hi",)),))
    choice = choose(script, asked(*user_turns("<session>hello</session>"), tools=()))
    assert choice.step == Say(text="hi")


def test_rounds_by_reply_and_by_neighbourhood():
    def assistant(reply: int, index: int) -> Turn:
        return Turn("assistant", call_id="x-" + own_call_id("call", "0123abcd", reply, index))

    result = Turn("tool", "r")
    interleaved = [assistant(1, 0), result, assistant(1, 1), result]
    assert len(rounds(interleaved)) == 1
    assert new_results(interleaved) == [result, result]
    assert len(rounds([assistant(1, 0), assistant(2, 0)])) == 2
    assert len(rounds([Turn("assistant", "text"), assistant(1, 0), result])) == 1
    foreign = Turn("assistant", call_id="chatcmpl-tool-9")
    assert len(rounds([foreign, foreign, result, foreign, result])) == 2
    assert new_results([foreign, result, user("new"), Turn("assistant", "x")]) == []
    assert rounds([result, user("x")]) == []


def test_a_choice_tells_where_it_stands():
    script = Script(rules=(Rule(when="x", then=(Fail(status=500), Drop())),))
    assert choose(script, asked(user("x"))).label == "rule 0 step 0: fail"
    assert choose(script, asked(user("y"))).label == "default: say"


texts = st.text("abc<>/ ", max_size=8)
steps = st.one_of(
    st.builds(Say, text=texts),
    st.just(CALL),
    st.builds(Fail, status=st.just(500), times=st.none() | st.integers(1, 3)),
    st.builds(Drop, times=st.none() | st.integers(1, 3)),
)
rules = st.builds(
    Rule,
    when=texts,
    then=st.lists(steps, min_size=1, max_size=4).map(tuple),
    always=st.booleans(),
    framed=st.booleans(),
)
scripts = st.builds(
    Script, rules=st.lists(rules, max_size=4).map(tuple), default=st.builds(Say, text=texts)
)
turns = st.one_of(
    st.builds(Turn, st.just("user"), texts, frame=st.sampled_from(["none", "beside", "framed"])),
    st.builds(Turn, st.just("assistant"), texts, call_id=st.sampled_from(["", "a", "b"])),
    st.builds(Turn, st.just("tool"), texts, call_id=st.sampled_from(["", "a", "b"])),
)
requests = st.builds(
    asked, tools=st.sampled_from([(), TOOLS]), schema=st.sampled_from([None, {"type": "object"}])
).flatmap(
    lambda request: st.lists(turns, max_size=8).map(
        lambda found: asked(*found, tools=request.tools, schema=request.schema)
    )
)


@given(scripts, requests)
def test_the_choice_is_a_step_of_a_rule_or_the_default(script, request):
    choice = choose(script, request)
    assert choice == choose(script, request)
    if choice.rule is None:
        assert isinstance(choice.step, Say)
        return
    rule = script.rules[choice.rule]
    assert rule.when in choice.text
    if request.tools or rule.always:
        assert choice.step == rule.then[choice.index]
    else:
        assert isinstance(choice.step, Say)
        assert choice.step.delay == 0


@given(scripts, requests)
def test_no_tools_no_calls(script, request):
    choice = choose(script, asked(*request.turns, tools=()))
    rule = None if choice.rule is None else script.rules[choice.rule]
    assert isinstance(choice.step, Say) or (rule is not None and rule.always)


@given(scripts, requests)
def test_a_failure_with_times_always_ends(script, request):
    spent: dict[tuple[int, int], int] = {}
    for _ in range(4 * 3 + 1):
        choice = choose(script, request, spent)
        if not isinstance(choice.step, Fail | Drop) or choice.step.times is None:
            return
        place = (choice.rule, choice.index)
        spent[place] = spent.get(place, 0) + 1
    raise AssertionError("still failing")


@given(st.lists(turns, max_size=8))
def test_every_result_after_an_answer_belongs_to_one_round(found):
    held = [result for one in rounds(found) for result in one.results]
    first = next((i for i, turn in enumerate(found) if turn.role == "assistant"), len(found))
    assert sorted(map(id, held)) == sorted(
        id(turn) for turn in found[first:] if turn.role == "tool"
    )
    answers = sum(
        turn.role == "assistant" and before.role != "assistant"
        for before, turn in pairwise([user(""), *found])
    )
    assert len(rounds(found)) == answers
