"""Every rule of an adapter's declarations, each with the declaration that keeps it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barry_cli.bags.manifest import BagManifest, parse_bag
from barry_cli.contract.adapter import (
    Adapter,
    Evidence,
    LaunchMode,
    Mode,
    NativeControl,
    SessionMode,
)
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.levels import MODE_IDS
from barry_cli.contract.models import Vendor, VendorCode
from barry_cli.contract.requirements import (
    Binary,
    HarnessCapabilities,
    Install,
    OfferedModel,
    Pin,
    Requirements,
)
from barry_cli.registry.check import AdapterCheck, check_adapter
from barry_cli.registry.sample import test_adapter as sample

CHECK = "barry_cli.registry.sample:shown"

LEAST = Guarantees(
    capture="none",
    delivery="none",
    gating="none",
    identity="none",
    interrupt=False,
    keeps_vendor_ui=True,
    steer=False,
)
HOSTED = LEAST.model_copy(
    update={"keeps_vendor_ui": False, "gating": "per-call", "capture": "total", "delivery": "wake"}
)


async def plan(config: object) -> object:
    return config


async def start(config: object, engine: object) -> object:
    return config


def launch(mode: type[Mode] = LaunchMode, **fields: Any) -> Any:
    fields.setdefault("guarantees", LEAST)
    fields.setdefault("verified_on", "1.0.0")
    fields.setdefault("evidence", Evidence(check=CHECK, proves="it"))
    if mode is LaunchMode:
        fields.setdefault("plan", plan)
    else:
        fields.setdefault("start", start)
        fields.setdefault("structured_output", "prompted")
    return mode(**fields)


def modes(**offered: Any) -> dict[str, Any]:
    return {"guest": None, "instrumented": None, "hosted": None, **offered}


def with_mode(slot: str, **fields: Any) -> Adapter:
    kind = SessionMode if slot == "hosted" else LaunchMode
    if slot == "hosted":
        fields.setdefault("guarantees", HOSTED)
    return sample(default_mode=slot, modes=modes(**{slot: launch(kind, **fields)}))


def ruling(slot: str, gating: str, *kinds: str) -> Adapter:
    return with_mode(slot, guarantees=LEAST.model_copy(update={"gating": gating}), ruled=kinds)


def promising(slot: str, **levels: Any) -> Adapter:
    base = HOSTED if slot == "hosted" else LEAST
    return with_mode(slot, guarantees=base.model_copy(update=levels))


def binary(**fields: Any) -> Adapter:
    whole: dict[str, Any] = {
        "command": "sample",
        "version_args": ("--version",),
        "version_pattern": "(.+)",
        "pin": Pin(version="1.0.0", enforced_by="it"),
        "install": Install(linux="get it"),
    }
    return sample(requirements=Requirements(binary=Binary(**{**whole, **fields})))


def problems(adapter: Any, **options: Any) -> list[str]:
    checked = check_adapter(adapter, **options)
    assert isinstance(checked, AdapterCheck)
    assert checked.checked > 0
    return checked.problems


def test_the_sample_is_clean_and_much_was_checked() -> None:
    checked = check_adapter(sample())
    assert checked.problems == []
    assert checked.checked > 50


def test_the_sample_is_no_test() -> None:
    assert sample.__dict__["__test__"] is False


def test_overrides_take_the_place_of_fields() -> None:
    assert sample(label="Other").label == "Other"
    assert dataclasses.replace(sample(), label="Sample").id == sample().id


# Each rule: an adapter that breaks it, a part of the problem, and one that keeps it.
RULES: list[tuple[str, Adapter, str, Adapter]] = [
    ("id", sample(id="Sample"), "id 'Sample' is not an id", sample(id="s-2")),
    ("id length", sample(id="s" * 65), "is not an id", sample(id="s" * 64)),
    ("id newline", sample(id="sample\n"), "is not an id", sample(id="sample")),
    ("label", sample(label=" "), "label", sample(label="S")),
    ("alias", sample(aliases=("Old",)), "alias 'Old' is not an id", sample(aliases=("old",))),
    ("own alias", sample(aliases=("sample",)), "is the id itself", sample(aliases=("old",))),
    ("alias twice", sample(aliases=("a", "a")), "twice", sample(aliases=("a", "b"))),
    ("experimental", sample(experimental=""), "experimental", sample(experimental="no check yet")),
    ("a mode", sample(modes=modes()), "no mode is offered", sample()),
    ("a slot", sample(modes={"guest": launch()}), "modes.hosted is not answered", sample()),
    ("slots", sample(modes=modes(guest=launch(), hostd=None)), "hosted?", sample()),
    ("default", sample(default_mode="hosted"), "that is not offered", sample()),
    ("default word", sample(default_mode="guests"), "default_mode is 'guests'", sample()),
    ("right type", sample(modes=modes(guest=launch(SessionMode))), "not LaunchMode", sample()),
    ("tool twice", sample(native_tools=("Read", "read")), "twice", sample(native_tools=("Read",))),
    ("tool name", sample(native_tools=("",)), "no name", sample(native_tools=())),
    (
        "evidence function",
        with_mode("guest", evidence=Evidence(check="barry_cli.registry.sample:no", proves="it")),
        "barry_cli.registry.sample has no no",
        with_mode("guest"),
    ),
    (
        "evidence outside",
        with_mode("guest", evidence=Evidence(check="barry_cli.cli:shown", proves="it")),
        "modes.guest.evidence.check",
        with_mode("guest"),
    ),
    (
        "evidence form",
        with_mode("guest", evidence=Evidence(check="shown", proves="it")),
        "is not written module:function",
        with_mode("guest"),
    ),
    (
        "evidence proves",
        with_mode("guest", evidence=Evidence(check=CHECK, proves=" ")),
        "proves says nothing",
        with_mode("guest"),
    ),
    (
        "verified_on",
        with_mode("guest", verified_on="newest"),
        "'newest' is not a version",
        with_mode("guest", verified_on="1.9.1"),
    ),
    (
        "family",
        with_mode("guest", verified_on="2.0.0"),
        "outside the release line of 1.0.0",
        with_mode("guest", verified_on="v1.4.0-nightly.3"),
    ),
    (
        "own family",
        binary(pin=Pin(version="1.0.0", enforced_by="it", family=">=1.1")),
        "requirements.binary.pin.version 1.0.0 is outside >=1.1",
        binary(pin=Pin(version="1.0.0", enforced_by="it", family=">=1,<2")),
    ),
    (
        "family form",
        binary(pin=Pin(version="1.0.0", enforced_by="it", family="1.x")),
        "is not a set of versions",
        binary(),
    ),
    (
        "pin enforced",
        binary(pin=Pin(version="1.0.0", enforced_by="")),
        "a pin that nothing enforces is a wish",
        binary(),
    ),
    ("pattern", binary(version_pattern="("), "is not a pattern", binary()),
    ("no group", binary(version_pattern="1"), "has 0 groups", binary()),
    ("two groups", binary(version_pattern="(1)(2)"), "has 2 groups", binary()),
    ("paths", binary(paths=("bin/x",)), "not absolute", binary(paths=("/x", "~/x"))),
    ("install", binary(install=Install()), "how to install", binary()),
    ("command", binary(command=""), "command is empty", binary()),
    ("guest gating", promising("guest", gating="hooks"), "static at most", promising("guest")),
    (
        "steer",
        promising("instrumented", steer=True, delivery="turn-end"),
        "reaches no running turn",
        promising("instrumented", steer=True, delivery="tool-call"),
    ),
    (
        "launch per-call",
        promising("instrumented", gating="per-call"),
        "gating is per-call",
        ruling("instrumented", "hooks", "shell"),
    ),
    (
        "hooks rule on something",
        promising("instrumented", gating="hooks"),
        "ruled names no kind of call",
        ruling("instrumented", "hooks", "shell", "mcp"),
    ),
    (
        "ruled in guest",
        ruling("guest", "static", "shell"),
        "is for the instrumented mode",
        ruling("guest", "static"),
    ),
    (
        "ruled without hooks",
        ruling("instrumented", "static", "shell"),
        "and guarantees.gating is static",
        ruling("instrumented", "static"),
    ),
    (
        "ruled twice",
        ruling("instrumented", "hooks", "shell", "shell"),
        "names a kind twice",
        ruling("instrumented", "hooks", "shell"),
    ),
    (
        "launch capture",
        promising("instrumented", capture="total"),
        "capture is total",
        promising("instrumented", capture="near-total"),
    ),
    (
        "launch ui",
        promising("guest", keeps_vendor_ui=False),
        "a person drives",
        promising("guest", keeps_vendor_ui=True),
    ),
    ("hosted ui", promising("hosted", keeps_vendor_ui=True), "Barry drives", promising("hosted")),
    (
        "hosted attaches",
        with_mode("hosted", attaches_to="hosted"),
        "is for launch modes",
        with_mode("hosted"),
    ),
    (
        "attaches to nothing",
        with_mode("instrumented", attaches_to="hosted"),
        "that mode is not offered",
        sample(
            default_mode="hosted",
            modes=modes(
                hosted=launch(SessionMode, guarantees=HOSTED),
                instrumented=launch(
                    attaches_to="hosted",
                    guarantees=HOSTED.model_copy(update={"keeps_vendor_ui": True}),
                ),
            ),
        ),
    ),
    (
        "more than hosted",
        sample(
            default_mode="hosted",
            modes=modes(
                hosted=launch(SessionMode, guarantees=HOSTED),
                instrumented=launch(
                    attaches_to="hosted",
                    guarantees=HOSTED.model_copy(
                        update={"keeps_vendor_ui": True, "identity": "inherent"}
                    ),
                ),
            ),
        ),
        "promises more than hosted does: identity",
        with_mode("hosted"),
    ),
    (
        "sandbox nowhere",
        with_mode("guest", egress_sandbox=True, platforms=("darwin",)),
        "where Barry has none",
        with_mode("guest", egress_sandbox=True, platforms=("linux",)),
    ),
    (
        "sandbox anywhere",
        with_mode("guest", egress_sandbox=True),
        "holds nowhere but on linux",
        with_mode("guest", egress_sandbox=True, platforms=("linux",)),
    ),
    ("no platforms", with_mode("guest", platforms=()), "is empty", with_mode("guest")),
    (
        "grantable",
        with_mode("guest", native=NativeControl(grantable=("Edit",))),
        "native.grantable names 'Edit'",
        with_mode("guest", native=NativeControl(grantable=("Read",))),
    ),
    (
        "inseparable",
        with_mode("guest", native=NativeControl(grantable=(), inseparable=(("Read", "Edit"),))),
        "native.inseparable names 'Edit'",
        with_mode("guest", native=NativeControl(grantable=(), inseparable=(("Read", "Write"),))),
    ),
    (
        "group of one",
        with_mode("guest", native=NativeControl(grantable=(), inseparable=(("Read",),))),
        "fewer than two",
        with_mode("guest", native=NativeControl(grantable=(), inseparable=(("Read", "Write"),))),
    ),
    (
        "uncontrolled",
        with_mode("guest", native=NativeControl(grantable=(), uncontrolled={"Edit": "no"})),
        "native.uncontrolled names 'Edit'",
        with_mode("guest", native=NativeControl(grantable=(), uncontrolled={"Read": "always on"})),
    ),
    (
        "uncontrolled why",
        with_mode("guest", native=NativeControl(grantable=(), uncontrolled={"Read": ""})),
        "no reason for Read",
        with_mode("guest", native=NativeControl(grantable=(), uncontrolled={"Read": "always on"})),
    ),
    ("options", sample(options={"type": "objekt"}), "options: type", sample(options={})),
    (
        "options elsewhere",
        sample(options={"$ref": "https://example.org/s"}),
        "only references within it",
        sample(options={"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}),
    ),
    (
        "models and vendor",
        sample(vendor="v", offered_models=(OfferedModel(id="v/m", label="M"),)),
        "beside vendor v",
        sample(vendor="v"),
    ),
    (
        "model form",
        sample(offered_models=(OfferedModel(id="m", label="M"),)),
        "a model is written vendor/model",
        sample(offered_models=(OfferedModel(id="v/m", label="M"),)),
    ),
    ("bag", sample(bag="../other"), "not a relative folder", sample(bag=".")),
    ("bag absolute", sample(bag="/etc"), "not a relative folder", sample(bag="bag/inner")),
    ("transcript", sample(transcript=3), "not a TranscriptSource", sample(transcript=None)),
    (
        "factories",
        sample(vendor_code=VendorCode(factories={"v": lambda model, env: None})),
        "no vendor of it",
        sample(
            vendor_code=VendorCode(
                vendors=(Vendor(id="v", label="V"),), factories={"v": lambda model, env: None}
            )
        ),
    ),
]


@pytest.mark.parametrize(("rule", "broken", "part", "kept"), RULES, ids=[row[0] for row in RULES])
def test_a_rule(rule: str, broken: Adapter, part: str, kept: Adapter) -> None:
    told = problems(broken)
    assert any(part in problem for problem in told), told
    assert problems(kept) == []


def sync(config: object) -> None: ...


async def no_arguments() -> None: ...


class Called:
    async def __call__(self, config: object) -> None: ...


@pytest.mark.parametrize("wrong", [sync, no_arguments, start, lambda config: None, Called])
def test_a_plan_is_async_and_takes_the_configuration(wrong: Callable[..., Any]) -> None:
    assert problems(with_mode("guest", plan=wrong)) == [
        "modes.guest.plan is not an async function (config)"
    ]


@pytest.mark.parametrize("right", [plan, Called(), functools.partial(start, None)])
def test_what_can_be_awaited_with_the_configuration_is_a_plan(right: Callable[..., Any]) -> None:
    assert problems(with_mode("guest", plan=right)) == []


@pytest.mark.parametrize("field", ["start", "adopt", "open_continuation"])
def test_a_hosted_modes_functions_are_async_and_take_two(field: str) -> None:
    assert problems(with_mode("hosted", **{field: plan})) == [
        f"modes.hosted.{field} is not an async function of two arguments"
    ]


def test_experimental_lifts_the_evidence_rule_alone() -> None:
    nowhere = Evidence(check="nowhere:nothing", proves="nothing yet")
    adapter = with_mode("guest", evidence=nowhere, verified_on="9.0.0")
    assert len(problems(adapter)) == 2
    (problem,) = problems(dataclasses.replace(adapter, experimental="no account to test with"))
    assert "verified_on 9.0.0" in problem


def test_evidence_is_looked_for_in_the_package_alone() -> None:
    assert problems(sample(), package="barry_cli.registry") == []
    (problem,) = problems(sample(), package="json")
    assert "there is no module json.barry_cli" in problem


BAG = """
name = "sample"
[tools.Shell]
kind = "shell"
[tools.Read]
kind = "read"
[tools.Write]
kind = "write"
"""


def bag(more: str = "", without: str = "\0") -> BagManifest:
    manifest, told = parse_bag(BAG.replace(without, "") + more)
    assert manifest is not None, told
    return manifest


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        (
            bag('[tools.Edit]\nkind = "write"'),
            "bag: tools names 'Edit', which is not in native_tools",
        ),
        (
            bag('[categories]\nshell = ["shell"]'),
            (
                "bag: categories.shell names 'shell', which is not in native_tools; "
                "did you mean Shell?"
            ),
        ),
        (
            bag('[bounds.b]\nnativeTools = { sample = ["Nope"] }'),
            "bag: bounds.b.nativeTools.sample names 'Nope', which is not in native_tools",
        ),
        (
            bag('[traits.t]\naccess = "read"\nnamespaces = []\nnativeTools = { old = ["Nope"] }'),
            "bag: traits.t.nativeTools.old names 'Nope', which is not in native_tools",
        ),
        (
            bag(
                '[formats.f]\nevent = "E"\nkind = "before-tool"\npaths = {tool = "t", input = "i"}'
            ),
            "bag: formats.f.answers has no deny",
        ),
        (
            bag(
                '[formats.f]\nevent = "E"\nkind = "before-tool"\npaths = {tool = "t"}\n'
                "[formats.f.answers.deny]\nexit = 2"
            ),
            "bag: formats.f.paths has no input",
        ),
        (
            bag('[formats.f]\nevent = "E"\nkind = "stop"\n[formats.f.answers.message]\nexit = 2'),
            "bag: formats.f.answers.message leaves with an exit code, and only 0 is passed on",
        ),
        (
            bag('[formats.f]\nevent = "E"\nkind = "after-tool"\nnames = { Bash = "Shel" }'),
            "bag: formats.f.names leads to 'Shel', which is not in native_tools",
        ),
        (
            bag(
                '[formats.f]\nevent = "E"\nkind = "stop"\n'
                '[formats.g]\nevent = "F"\nkind = "end"\npaths = {event = "e"}'
            ),
            "bag: formats.f.paths has no event, and there are several to tell apart",
        ),
        (
            bag(without='[tools.Write]\nkind = "write"\n'),
            "bag: tools has no row for the native tool Write",
        ),
    ],
)
def test_a_bag_speaks_of_this_harness(manifest: BagManifest, problem: str) -> None:
    assert problems(sample(aliases=("old",)), bag_manifest=manifest) == [problem]


def test_an_event_that_only_tells_needs_no_denial() -> None:
    tells = bag('[formats.f]\nevent = "E"\nkind = "ask"\n')
    assert problems(sample(), bag_manifest=tells) == []


def test_a_bag_may_speak_of_other_harnesses() -> None:
    other = bag('[bounds.b]\nnativeTools = { other = ["Whatever"] }')
    assert problems(sample(), bag_manifest=other) == []


@pytest.mark.parametrize(
    ("credential", "problem"),
    [
        ({"source": "env", "item": "a", "field": "b"}, "source is 'env', and must be 'vault'"),
        ({"source": "vault", "field": "b"}, "bag.credentials.KEY.item is missing"),
        ({"source": "vault", "item": "a", "field": ""}, "field must not be empty"),
        (3, "bag.credentials.KEY must be a table"),
    ],
)
def test_a_credential_names_a_field_of_the_vault(credential: object, problem: str) -> None:
    (told,) = problems(sample(), bag_manifest={"credentials": {"KEY": credential}})
    assert problem in told
    kept = {"credentials": {"KEY": {"source": "vault", "item": "a", "field": "b"}}}
    assert problems(sample(), bag_manifest=kept) == []


def test_every_problem_is_told_at_once() -> None:
    adapter = sample(
        id="S",
        label="",
        aliases=("S",),
        native_tools=("a", "A"),
        modes=modes(guest=launch(verified_on="x", platforms=())),
        options={"type": "x"},
        vendor="v",
        offered_models=(OfferedModel(id="m", label="M"),),
        bag="..",
    )
    assert len(problems(adapter)) >= 11


WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(MODE_IDS), st.integers() | st.none()),
    st.just(object()),
    st.just(int),
    st.just(len),
    st.tuples(st.text(max_size=3), st.none()),
)
FIELDS = [field.name for field in dataclasses.fields(Adapter)]
NESTED: list[type[Any]] = [LaunchMode, SessionMode, Guarantees, Requirements, Binary, Pin]


@st.composite
def malformed(draw: st.DrawFn) -> Any:
    """A mode, or part of one, built without being looked at."""
    kind = draw(st.sampled_from(NESTED))
    names = draw(st.lists(st.sampled_from(sorted(kind.model_fields)), unique=True))
    values: dict[str, Any] = {name: draw(WRONG) for name in names}
    return kind.model_construct(**values)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), WRONG | malformed(), min_size=1, max_size=4))
def test_no_adapter_is_too_malformed_to_be_checked(fields: dict[str, Any]) -> None:
    checked = check_adapter(sample(**fields))
    assert checked.checked > 0
    assert all(isinstance(problem, str) for problem in checked.problems)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(MODE_IDS), malformed() | WRONG)
def test_no_mode_is_too_malformed_to_be_checked(slot: str, mode: Any) -> None:
    checked = check_adapter(sample(modes=modes(**{slot: mode}), default_mode=slot))
    assert checked.checked > 0
    assert checked.problems


class Pretender:
    """It says of its class what it likes."""

    @property
    def __class__(self) -> Any:  # type: ignore[override]  # no honest object does this
        raise RuntimeError("go away")


def test_what_pretends_to_be_an_adapter_is_one_problem() -> None:
    thing: Any = Pretender()
    assert check_adapter(thing).problems == ["the adapter is of type Pretender, not Adapter"]


@pytest.mark.parametrize("thing", [None, 3, "adapter", {}, object(), Adapter, len])
def test_what_is_no_adapter_is_one_problem(thing: Any) -> None:
    checked = check_adapter(thing)
    assert (checked.checked, len(checked.problems)) == (1, 1)


@pytest.mark.parametrize("field", FIELDS)
def test_an_attribute_of_a_wrong_type_is_named(field: str) -> None:
    if field in ("label", "experimental", "vendor", "bag", "id"):
        wrong: Any = 3
    else:
        wrong = object()
    told = problems(sample(**{field: wrong}))
    assert any(field in problem for problem in told), told


class Hostile(Adapter):
    """An adapter whose attributes fail when they are looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("go away")


def test_an_adapter_that_fails_when_looked_at_is_a_problem() -> None:
    told = problems(Hostile.__new__(Hostile))
    assert told
    assert all("go away" in problem for problem in told)


def test_capabilities_built_without_being_looked_at_are_looked_at() -> None:
    capabilities = HarnessCapabilities.model_construct(endpoint="sometimes")
    told = problems(sample(capabilities=capabilities))
    assert any("capabilities.endpoint is 'sometimes'" in problem for problem in told)
    assert "capabilities.tool_denial is missing" in told


@pytest.mark.parametrize("text", ["x" * 201, "a\x1b[2J", "a\nb", "", "x" * 1_000_000])
def test_names_that_no_line_can_bear(text: str) -> None:
    for field, value in (("label", text), ("vendor", text), ("native_tools", ("Read", text))):
        problems = check_adapter(sample(**{field: value})).problems
        said = [problem for problem in problems if problem.startswith(field)]
        assert said, (field, problems)
        assert all(len(problem) < 200 and problem.isprintable() for problem in said)
