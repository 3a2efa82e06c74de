"""What every adapter has to keep to, as tests over its package."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from barry_cli.base.problems import BarryError
from barry_cli.contract.adapter import LaunchMode
from barry_cli.contract.data import snapshot
from barry_cli.contract.guarantees import changed as differing
from barry_cli.contract.guarantees import raised
from barry_cli.contract.levels import ModeId
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig
from barry_cli.registry.records import InstalledAdapter
from barry_cli.testing.matrix import EXTRA, KEY, Case, cases
from barry_cli.testing.subject import (
    NotConforming,
    Place,
    Subject,
    answer,
    changed,
    load_subject,
    make_plan,
    private_place,
    require,
)

PRIVATE = 0o700


class AdapterSuite:
    """Subclass it in a test file, under a name that starts with ``Test``."""

    package: ClassVar[str] = "."
    """The folder of the package's ``pyproject.toml``, relative to the test file."""

    _subjects: ClassVar[dict[Path, Subject]] = {}

    def test_package_passes_every_check(self) -> None:
        """It loads in a process of its own, quietly, and its declarations hold up."""
        require(self.subject().examined.checked > 0, "no check ran")

    def test_record_survives_the_file(self) -> None:
        """What is recorded reads back as it was."""
        record_survives_the_file(self.subject())

    def test_readme_is_there(self) -> None:
        """A README says what is proven and what is not."""
        readme_is_there(self.subject())

    def test_bag_covers_the_tools(self) -> None:
        """The tool table has a row for each native tool: rulings know tools from there alone."""
        bag_covers_the_tools(self.subject())

    def test_transcripts_of_an_empty_home(self) -> None:
        """Where no conversation is, none is found."""
        transcripts_of_an_empty_home(self.subject())

    def test_plan_is_repeatable(self) -> None:
        """The same configuration gives the same plan, apart from ids and temporary folders."""
        plan_is_repeatable(self.subject())

    def test_every_field_is_honoured_or_named(self) -> None:
        """What a session is asked for changes the plan, is warned about, or is refused."""
        every_field_is_honoured_or_named(self.subject())

    def test_plans_keep_the_rules(self) -> None:
        """Whatever is asked for: promises, secrets, folders, arguments and inputs are in order."""
        plans_keep_the_rules(self.subject())

    @classmethod
    def subject(cls) -> Subject:
        """The adapter under test, checked and loaded once. Raises NotConforming."""
        file = getattr(sys.modules.get(cls.__module__), "__file__", None) or os.getcwd() + "/-"
        path = (Path(file).resolve().parent / cls.package).resolve()
        if path not in cls._subjects:
            cls._subjects[path] = load_subject(path)
        return cls._subjects[path]


def conformance_checks(path: str | os.PathLike[str]) -> dict[str, Callable[[], None]]:
    """The same checks without pytest: name -> what raises NotConforming.

    Raises NotConforming itself when the package can't be loaded or does not pass its checks.
    """
    subject = load_subject(Path(path).resolve())
    return {check.__name__: _bound(check, subject) for check in _CHECKS}


def _bound(check: Callable[[Subject], None], subject: Subject) -> Callable[[], None]:
    return lambda: check(subject)


def record_survives_the_file(subject: Subject) -> None:
    """What is recorded reads back as it was."""
    record = subject.examined.record
    assert record is not None
    read = InstalledAdapter.model_validate(
        json.loads(json.dumps(snapshot(record))), by_alias=True, by_name=False
    )
    require(read == record, "its record does not read back as it was written")


def readme_is_there(subject: Subject) -> None:
    """A README says what is proven and what is not."""
    found = [each for each in subject.path.iterdir() if each.stem.lower() == "readme"]
    require(any(each.read_bytes().strip() for each in found), f"{subject.path} has no README")


def bag_covers_the_tools(subject: Subject) -> None:
    """The tool table has a row for each native tool."""
    record = subject.examined.record
    assert record is not None
    table = record.bag.manifest.tools if record.bag is not None else {}
    missing = [tool for tool in record.native_tools if tool not in table]
    require(not missing, f"its bag has no row for {', '.join(missing)}")


def transcripts_of_an_empty_home(subject: Subject) -> None:
    """Where no conversation is, none is found."""
    source = subject.adapter.transcript
    if source is None:
        return
    with private_place() as place:
        env = {"HOME": str(place.home), "PATH": "/usr/bin:/bin"}
        found = source.find("6f1c2a34-0000-4000-8000-0c2d3e4f5a6b", str(place.cwd), env)
        require(found is None, f"its transcripts hold a conversation that is not there: {found}")
        listed = list(source.list(str(place.cwd), env))
        require(not listed, f"its transcripts list conversations that are not there: {listed}")


def plan_is_repeatable(subject: Subject) -> None:
    """The same configuration gives the same plan, apart from ids and temporary folders."""
    with private_place() as place:
        for name, mode in subject.launch_modes.items():
            first, second = (answer(subject, mode, place.config(subject, name)) for _ in range(2))
            for part in first:
                require(
                    first[part] == second.get(part),
                    f"{name}: the same configuration gives other {part} the second time",
                )


def every_field_is_honoured_or_named(subject: Subject) -> None:
    """What a session is asked for changes the plan, is warned about, or is refused."""
    ignored = []
    with private_place() as place:
        for name, mode in subject.launch_modes.items():
            plain = place.config(subject, name)
            ignored += [
                f"{name}: {case.name}"
                for case in cases(subject, place)
                if case.must_show
                and not _is_off_anyway(mode, case)
                and not any(
                    _shows(subject, mode, changed(plain, beside), changed(plain, fields))
                    for beside, fields in case.together()
                )
            ]
    require(not ignored, "\n".join(["neither honoured nor warned about:", *ignored]))


def _is_off_anyway(mode: LaunchMode, case: Case) -> bool:
    """Whether a case asks to deny a tool that the hook refuses by name, or that is never granted.

    A launch compiles denials into the policy that hooks and plugins rule by.
    """
    asked = [tool for fields in case.fields for tool in _denials(fields)]
    if mode.native is None or not asked:
        return bool(asked and mode.ruled)
    kept = {*mode.native.grantable, *(mode.native.uncontrolled or {})}
    return bool(mode.ruled) or not kept.intersection(asked)


def _denials(fields: Mapping[str, object]) -> tuple[str, ...]:
    denied = fields.get("denied_tools") if len(fields) == 1 else None
    return denied if isinstance(denied, tuple) else ()


def _shows(subject: Subject, mode: LaunchMode, base: SessionConfig, asked: SessionConfig) -> bool:
    """Whether what is asked for beyond a configuration changes the plan, or is refused."""
    said = answer(subject, mode, asked)
    return "refused" in said or said != answer(subject, mode, base)


def plans_keep_the_rules(subject: Subject) -> None:
    """Whatever is asked for, promises, secrets, folders, arguments and inputs are in order."""
    problems: list[str] = []
    for name, mode in subject.launch_modes.items():
        with private_place() as place:
            for case in [Case("nothing", ({},)), *cases(subject, place)]:
                for _, fields in case.together():
                    wrong = _wrong(subject, name, mode, place, fields)
                    problems += [f"{name}, {case.name}: {problem}" for problem in wrong]
    require(not problems, "\n".join(dict.fromkeys(problems)))


def _wrong(
    subject: Subject, name: ModeId, mode: LaunchMode, place: Place, fields: Mapping[str, object]
) -> Iterator[str]:
    config = changed(place.config(subject, name), {**fields, "extra_args": EXTRA})
    try:
        plan = make_plan(subject, mode, config)
    except BarryError:
        yield from _left_behind(place, ())
        return
    except NotConforming as problem:
        yield str(problem)
        return
    try:
        yield from _shape(plan)
        yield from _promise(plan, mode)
        yield from _folders(plan)
        yield from _left_behind(place, plan.tmp_dirs)
    finally:
        for folder in plan.tmp_dirs:
            shutil.rmtree(folder, ignore_errors=True)


def _shape(plan: LaunchPlan) -> Iterator[str]:
    texts: tuple[object, ...] = (plan.command, *plan.args)
    if not plan.command:
        yield "the plan has no command"
    if any(not isinstance(text, str) or "\0" in text for text in texts):
        yield "the plan has an argument that is no text"
    if tuple(plan.args[-len(EXTRA) :]) != EXTRA:
        yield "the user's own arguments are not the last ones"
    for name, value in plan.env.items():
        if not name or "=" in name or not isinstance(value, str | None):
            yield f"the plan's variable {name!r} is no variable"
    if plan.cwd is not None and not os.path.isabs(plan.cwd):
        yield "the plan's folder is not absolute"
    if any(KEY in str(text) for text in texts):
        yield "the endpoint's key is among the arguments, which every user of a machine can read"
    if any(KEY in warning for warning in plan.warnings):
        yield "the endpoint's key is in a warning"


def _promise(plan: LaunchPlan, mode: LaunchMode) -> Iterator[str]:
    if more := raised(mode.guarantees, plan.guarantees):
        yield f"the plan promises more than its mode: {', '.join(more)}"
    for name in differing(mode.guarantees, plan.guarantees):
        if not plan.lowered.get(name, "").strip():
            yield f"the plan lowers {name} and gives no reason"
    if plan.inbox is None and plan.guarantees.delivery not in ("none", "on-resume"):
        yield f"the plan promises delivery {plan.guarantees.delivery} and opens no inbox"


def _folders(plan: LaunchPlan) -> Iterator[str]:
    for folder in plan.tmp_dirs:
        if not os.path.isdir(folder) or os.path.islink(folder):
            yield f"the plan names a folder that is not there: {folder}"
        elif stat.S_IMODE(os.stat(folder).st_mode) != PRIVATE:
            yield f"others can look into the plan's folder {folder}"


def _left_behind(place: Place, tmp_dirs: tuple[str, ...]) -> Iterator[str]:
    """Files that planning made and that nobody will remove."""
    for path in (*place.home.rglob("*"), *place.cwd.rglob("*")):
        yield f"planning writes {path.relative_to(place.root)}"
        shutil.rmtree(path, ignore_errors=True)
    made = [each for each in (place.run, place.tmp) if each.is_dir()]
    for path in (path for folder in made for path in folder.iterdir()):
        if not any(Path(folder).is_relative_to(path) for folder in tmp_dirs):
            yield f"planning leaves {path.name} behind, which the plan does not name"
            shutil.rmtree(path, ignore_errors=True)


_CHECKS = (
    record_survives_the_file,
    readme_is_there,
    bag_covers_the_tools,
    transcripts_of_an_empty_home,
    plan_is_repeatable,
    every_field_is_honoured_or_named,
    plans_keep_the_rules,
)
