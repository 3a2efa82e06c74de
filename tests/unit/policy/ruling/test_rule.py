"""The one ruling, on calls of a harness that there isn't: everything is known from its table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from barry_cli.bags.manifest import ToolRow
from barry_cli.policy.compile import compile_policy
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.rule import rule, rule_command
from barry_cli.policy.ruling.verdict import DENIED, UNDECIDABLE, Verdict
from barry_cli.policy.schema import parse_bound

TABLE: Mapping[str, ToolRow] = {
    "zap": ToolRow(kind="shell", field="line"),
    "scribble": ToolRow(kind="write", field="where"),
    "peek": ToolRow(kind="read", field=("what", "more")),
    "stitch": ToolRow(kind="patch", field="seam"),
    "gaze": ToolRow(kind="url", field="star"),
    "wonder": ToolRow(kind="url"),
    "helper": ToolRow(kind="agent", field="line"),
    "muse": ToolRow(kind="other"),
    "deep": ToolRow(kind="write", field="in.path"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    top = tmp_path.resolve() / "proj"
    (top / "src").mkdir(parents=True)
    (top / ".env").write_text("x")
    return top


def policy(project: Path, bound: dict[str, Any] | None, *floor: str) -> Policy:
    return compile_policy(
        parse_bound(bound) if bound is not None else None,
        root=str(project),
        harness="toy",
        tools=TABLE,
        floor=floor,
        home=str(project.parent),
    )


def ruled(project: Path, bound: dict[str, Any], tool: str, input: object) -> Verdict:
    """The ruling; and the same call without the bound is allowed."""
    verdict = rule(policy(project, bound), tool, input, str(project))
    assert rule(policy(project, {}), tool, input, str(project)).allowed
    if verdict.allowed:
        assert (verdict.rule, verdict.field, verdict.human, verdict.agent) == ("", "", "", "")
    else:
        assert verdict.human
        assert verdict.agent
        assert verdict.agent.endswith("ask the user to do it.")
    return verdict


PUSH = {"bash": {"denyPrograms": ["git:push"]}}
SECRETS = {"files": {"deny": [".env", "*.pem"]}}
ONLY = {"files": {"allowOnly": ["src/**"]}}
HOSTS = {"network": {"domains": ["*.internal.test"]}}
NO_READS = {"network": {"actions": ["http:read"]}}
PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\n"
DIFF = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"

CALLS: list[tuple[dict[str, Any], str, object, str, str, str]] = [
    # bound, tool, input, outcome, field, what the span holds
    (PUSH, "zap", {"line": "cd a && git push"}, "denied", "bash.denyPrograms", "git push"),
    (PUSH, "zap", {"line": "sudo git push"}, "denied", "bash.denyPrograms", "git push"),
    (PUSH, "zap", {"line": "git status"}, "allowed", "", ""),
    (PUSH, "zap", {"line": 'echo "x'}, "undecidable", "bash.denyPrograms", 'echo "x'),
    (PUSH, "zap", {"line": ["git", "push"]}, "denied", "bash.denyPrograms", "git push"),
    (PUSH, "zap", {"line": ["echo", "git push"]}, "allowed", "", ""),
    (PUSH, "zap", {"other": "git push"}, "undecidable", "", ""),
    (PUSH, "zap", {"line": 7}, "undecidable", "", ""),
    (PUSH, "zap", None, "undecidable", "", ""),
    (PUSH, "zap", "git push", "denied", "bash.denyPrograms", "git push"),
    (PUSH, "zap", {"line": "\x03"}, "allowed", "", ""),
    (PUSH, "ZAP", {"line": "git push"}, "denied", "bash.denyPrograms", "git push"),
    (PUSH, "muse", {"line": "git push"}, "allowed", "", ""),
    (PUSH, "helper", {"line": "git push"}, "allowed", "", ""),
    (PUSH, "scribble", {"where": "git push"}, "allowed", "", ""),
    (
        {"bash": {"deny": ["rm -rf"]}},
        "zap",
        {"line": "true; rm -rf x"},
        "denied",
        "bash.deny",
        "rm -rf",
    ),
    (SECRETS, "zap", {"line": "cat .env"}, "denied", "files.deny", ".env"),
    (SECRETS, "peek", {"what": ".env"}, "denied", "files.deny", ".env"),
    (SECRETS, "peek", {"what": "a", "more": "b.pem"}, "denied", "files.deny", "b.pem"),
    (SECRETS, "peek", {"what": ["a", "b.pem"]}, "denied", "files.deny", "b.pem"),
    (SECRETS, "peek", {"what": "src/a.py"}, "allowed", "", ""),
    (SECRETS, "peek", {"what": "**/.en*"}, "undecidable", "files.deny", "**/.en*"),
    (SECRETS, "peek", {}, "allowed", "", ""),
    (SECRETS, "scribble", {"where": "x.pem"}, "denied", "files.deny", "x.pem"),
    (SECRETS, "scribble", {"where": "src/../.env"}, "denied", "files.deny", "src/../.env"),
    (SECRETS, "scribble", {"where": "x.txt"}, "allowed", "", ""),
    (SECRETS, "deep", {"in": {"path": "x.pem"}}, "denied", "files.deny", "x.pem"),
    (SECRETS, "stitch", {"seam": PATCH.format(".env")}, "denied", "files.deny", ".env"),
    (SECRETS, "stitch", {"seam": DIFF.format(".env")}, "denied", "files.deny", "a/.env"),
    (SECRETS, "stitch", {"seam": PATCH.format("src/a.py")}, "allowed", "", ""),
    (SECRETS, "gaze", {"star": "file:///x/a.pem"}, "denied", "files.deny", "file:///x/a.pem"),
    (ONLY, "scribble", {"where": "src/a.py"}, "allowed", "", ""),
    (ONLY, "scribble", {"where": "a.py"}, "denied", "files.allowOnly", "a.py"),
    (ONLY, "peek", {"what": "src/*.py"}, "allowed", "", ""),
    (ONLY, "peek", {"what": "*.py"}, "denied", "files.allowOnly", "*.py"),
    (ONLY, "stitch", {"seam": DIFF.format("src/a.py")}, "allowed", "", ""),
    (ONLY, "stitch", {"seam": DIFF.format("a.py")}, "denied", "files.allowOnly", "a/a.py"),
    (ONLY, "zap", {"line": "touch src/a"}, "allowed", "", ""),
    (ONLY, "zap", {"line": "touch a", "cwd": "src"}, "denied", "files.allowOnly", "a"),
    (ONLY, "zap", {"line": "touch src/a", "workdir": "/tmp"}, "denied", "files.allowOnly", "src/a"),
    (
        {"files": {"allowOnly": []}},
        "peek",
        {"what": "src/a.py"},
        "denied",
        "files.allowOnly",
        "src/a.py",
    ),
    (HOSTS, "gaze", {"star": "https://a.internal.test/x"}, "denied", "network.domains", "https"),
    (HOSTS, "gaze", {"star": "a.INTERNAL.test"}, "denied", "network.domains", "a.INTERNAL.test"),
    (HOSTS, "gaze", {"star": "https://a.test/"}, "allowed", "", ""),
    (HOSTS, "gaze", {"star": ""}, "undecidable", "network.domains", ""),
    (HOSTS, "gaze", {}, "undecidable", "", ""),
    (HOSTS, "wonder", {"q": "https://a.internal.test/x"}, "allowed", "", ""),
    (HOSTS, "zap", {"line": "curl https://a.internal.test"}, "denied", "network.domains", "https"),
    (HOSTS, "mcp__web__fetch", {"url": "https://a.internal.test"}, "denied", "network.domains", ""),
    (HOSTS, "mcp__web__fetch", {"url": "https://a.test"}, "allowed", "", ""),
    (HOSTS, "mcp__web__look", {"url": "https://a.internal.test"}, "allowed", "", ""),
    (NO_READS, "gaze", {"star": "https://a.test"}, "denied", "network.actions", ""),
    (NO_READS, "wonder", {}, "denied", "network.actions", ""),
    (NO_READS, "zap", {"line": "curl https://a.test"}, "denied", "network.actions", "curl"),
    (NO_READS, "zap", {"line": "curl -d a https://a.test"}, "allowed", "", ""),
    (NO_READS, "mcp__web__fetch", {}, "denied", "network.actions", ""),
    ({"network": {"actions": ["write"]}}, "gaze", {"star": "https://a.test"}, "allowed", "", ""),
    ({"network": {"actions": ["write"]}}, "git_push", {}, "denied", "network.actions", ""),
]


@pytest.mark.parametrize(("bound", "tool", "input", "outcome", "field", "span"), CALLS)
def test_a_call(
    bound: dict[str, Any],
    tool: str,
    input: object,
    outcome: str,
    field: str,
    span: str,
    project: Path,
) -> None:
    verdict = ruled(project, bound, tool, input)
    assert (verdict.outcome, verdict.field) == (outcome, field), verdict.human
    if span:
        start, end = verdict.span
        assert verdict.text[start:end].startswith(span)


@pytest.mark.parametrize("tool", ["zap", "scribble", "peek", "stitch", "gaze"])
def test_a_tool_that_is_not_in_the_table_is_ruled_by_its_name(tool: str, project: Path) -> None:
    made = policy(project, {**PUSH, **SECRETS, **HOSTS})
    made.tools = {}
    call = {"line": "git push", "where": ".env", "what": ".env", "seam": PATCH.format(".env")}
    assert rule(made, tool, {**call, "star": "https://a.internal.test"}, str(project)).allowed


@pytest.mark.parametrize(
    ("bound", "tool", "field"),
    [
        ({"deniedTools": ["zap"]}, "zap", "deniedTools"),
        ({"deniedTools": ["ZAP"]}, "zap", "deniedTools"),
        ({"deniedTools": ["toy"]}, "zap", "deniedTools"),
        ({"deniedTools": ["toy:zap"]}, "zap", "deniedTools"),
        ({"deniedTools": ["other:zap"]}, "zap", ""),
        ({"deniedTools": ["za"]}, "zap", ""),
        ({"deniedTools": ["sentry"]}, "mcp__sentry__search_issues", "deniedTools"),
        ({"deniedTools": ["sentry:search_issues"]}, "mcp__sentry__search_issues", "deniedTools"),
        ({"deniedTools": ["search_issues"]}, "mcp__sentry__search_issues", "deniedTools"),
        ({"deniedTools": ["sentry:search_issues"]}, "sentry_search_issues", "deniedTools"),
        ({"deniedTools": ["sentry"]}, "sentry_search_issues", "deniedTools"),
        ({"deniedTools": ["my_server:do_it"]}, "my_server_do_it", "deniedTools"),
        ({"deniedTools": ["my_server:do_it"]}, "mcp_my_server_do_it", "deniedTools"),
        ({"deniedTools": ["sentry:other"]}, "mcp__sentry__search_issues", ""),
        ({"deniedTools": ["git"]}, "mcp__github__status", ""),
        ({"deniedAccess": ["toy"]}, "scribble", "deniedAccess"),
        ({"deniedAccess": ["toy"]}, "peek", ""),
        ({"deniedAccess": ["toy:zap"]}, "zap", "deniedAccess"),
        ({"deniedAccess": ["sentry"]}, "mcp__sentry__search_issues", "deniedAccess"),
        ({"nativeTools": {"toy": ["Zap"]}}, "zap", "nativeTools"),
        ({"nativeTools": {"other": ["zap"]}}, "zap", ""),
        ({"nodes": {"deny": ["local"]}}, "muse", "nodes.deny"),
        ({"nodes": {"allow": ["elsewhere"]}}, "muse", "nodes.allow"),
        ({"nodes": {"allow": ["local"]}}, "muse", ""),
    ],
)
def test_a_tool_by_its_name(bound: dict[str, Any], tool: str, field: str, project: Path) -> None:
    inputs = {"zap": {"line": "ls"}, "scribble": {"where": "a"}, "peek": {"what": "a"}}
    verdict = ruled(project, bound, tool, inputs.get(tool, {}))
    assert verdict.field == field
    assert verdict.allowed is (field == "")


def test_the_floor_holds_without_a_bound(project: Path) -> None:
    made = policy(project, None, ".barry", "~/.toy/settings.json")
    where = str(project)
    assert not rule(made, "scribble", {"where": ".barry/bound.toml"}, where).allowed
    assert not rule(made, "scribble", {"where": "~/.toy/settings.json"}, where).allowed
    assert not rule(made, "scribble", {"where": "a/.barry/x"}, where).allowed
    assert not rule(made, "stitch", {"seam": PATCH.format(".barry/x")}, where).allowed
    assert not rule(made, "zap", {"line": "echo > .barry/x"}, where).allowed
    assert rule(made, "peek", {"what": ".barry/bound.toml"}, where).allowed
    assert rule(made, "zap", {"line": "cat .barry/bound.toml"}, where).allowed
    assert rule(made, "scribble", {"where": "a"}, where).allowed
    # What can't be seen is not written by a file tool.
    assert not rule(made, "scribble", {}, where).allowed
    assert not rule(made, "stitch", {"seam": "no patch"}, where).allowed


def test_an_allowlist_of_hosts(project: Path) -> None:
    bound = {"network": {"enforce": "sandbox", "allowDomains": ["*.example.net", "a.test"]}}
    made = policy(project, bound)

    def outcome(url: str) -> str:
        return rule(made, "gaze", {"star": url}, str(project)).outcome

    assert outcome("https://files.example.net/x") == "allowed"
    assert outcome("https://a.test") == "allowed"
    assert outcome("http://localhost:8000") == "allowed"
    assert outcome("https://b.test") == DENIED
    assert rule_command(made, "curl https://b.test", str(project)).field == "network.allowDomains"
    # What stands for $x could end the name: `elsewhere.test/`.
    assert not rule_command(made, 'curl "https://$x.example.net"', str(project)).allowed
    assert rule_command(made, 'x=files; curl "https://$x.example.net"', str(project)).allowed
    assert not rule_command(made, 'curl "https://$x.b.test"', str(project)).allowed
    none = policy(project, {"network": {"enforce": "sandbox"}})
    assert not rule(none, "gaze", {"star": "https://a.test"}, str(project)).allowed


def test_a_plain_denial_goes_before_a_doubt(project: Path) -> None:
    bound = {**PUSH, "network": {"actions": ["write"]}, **SECRETS}
    verdict = rule_command(policy(project, bound), 'cat .env; echo "x', str(project))
    assert (verdict.outcome, verdict.field) == (DENIED, "files.deny")
    verdict = rule_command(policy(project, bound), 'echo "x', str(project))
    assert verdict.outcome == UNDECIDABLE


def test_the_sentences_keep_what_is_secret(project: Path) -> None:
    bound = {"network": {"domains": ["a.test"], "actions": ["git:push"]}}
    made = policy(project, bound)
    for line in ("git push https://u:hunter2@b.test/x", "curl https://u:hunter2@a.test/"):
        verdict = rule_command(made, line, str(project))
        assert not verdict.allowed
        assert "hunter2" not in verdict.human + verdict.agent
    verdict = rule(policy(project, SECRETS), "gaze", {"star": "file://u:hunter2@x/.env"}, "/")
    assert "hunter2" not in verdict.human + verdict.agent


def test_the_sentences_say_what_and_where() -> None:
    made = compile_policy(parse_bound(PUSH), root="/work/proj", home="/home/dev")
    verdict = rule_command(made, "sudo nice git push", "/work/proj")
    assert verdict.human == "denied by bash.denyPrograms git:push: `git push` inside sudo, nice"
    anchored = {"files": {"deny": ["/work/proj//secrets/**"]}}
    made = compile_policy(parse_bound(anchored), root="/work/proj", home="/home/dev")
    verdict = rule_command(made, "cat secrets/key", "/work/proj")
    assert verdict.rule == "/work/proj//secrets/**"
    assert verdict.human == "denied by files.deny secrets/**: reads secrets/key (cat)"


def test_a_fault_of_ours_refuses_the_call(project: Path) -> None:
    made = policy(project, PUSH)
    made.actions = 7  # type: ignore[assignment]  # a policy that is broken
    assert rule(made, "zap", {"line": "curl a.b"}, str(project)).outcome == UNDECIDABLE
    assert rule_command(made, "curl a.b", str(project)).outcome == UNDECIDABLE


def test_a_relative_folder_is_the_session_s(project: Path) -> None:
    made = policy(project, ONLY)
    assert rule(made, "scribble", {"where": "a"}, "src").allowed
    assert not rule(made, "scribble", {"where": "a"}, "").allowed


def test_a_refusal_that_no_rule_stands_behind_names_none() -> None:
    from barry_cli.policy.ruling.wording import denied

    verdict = denied("", "", "the command line can't be seen", unsure="no text")
    assert "()" not in verdict.human + verdict.agent
    named = denied("bash.denyPrograms", "git:push", "x", unsure="no text")
    assert "(bash.denyPrograms git:push)" in named.human
    assert "(bash.denyPrograms git:push)" in named.agent
