"""Which files a patch names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.policy.ruling.patches import patch_paths

BODIES = {
    "unified": ("--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-a\n+b\n", {"src/x.py"}),
    "no prefix": ("--- src/x.py\n+++ src/y.py\n", {"src/x.py", "src/y.py"}),
    "with times": ("--- a/x.py\t2024-01-01 00:00:00\n+++ b/x.py\t2024-01-01\n", {"x.py"}),
    "made": ("--- /dev/null\n+++ b/new.py\n", {"new.py"}),
    "removed": ("--- a/old.py\n+++ /dev/null\n", {"old.py"}),
    "git": ("diff --git a/x.py b/y.py\nsimilarity index 90%\n", {"x.py", "y.py"}),
    "git, renamed": ("rename from a b.py\nrename to c.py\n", {"a b.py", "c.py"}),
    "git, copied": ("copy from a.py\ncopy to b.py\n", {"a.py", "b.py"}),
    "git, a blank": ("diff --git a/a b.py b/a b.py\n", {"a b.py"}),
    "git, quoted": (
        'diff --git "a/\\303\\251 \\"x\\".py" "b/\\303\\251 \\"x\\".py"\n--- "a/\\303\\251.py"\n',
        {'é "x".py', "é.py"},
    ),
    "git, binary": ("diff --git a/i.png b/i.png\nGIT binary patch\n", {"i.png"}),
    "index": ("Index: src/x.py\n====\n", {"src/x.py"}),
    "context": ("*** src/x.py\tdate\n--- src/y.py\tdate\n", {"src/x.py", "src/y.py"}),
    "begin": (
        (
            "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: src/x.py\n"
            "*** Move to: src/y.py\n@@\n-a\n+b\n*** Delete File: old.py\n*** End Patch\n"
        ),
        {"new.py", "src/x.py", "src/y.py", "old.py"},
    ),
    "begin, set in": ("  *** Add File:  new.py  \r\n", {"new.py"}),
    "line feeds of another system": ("--- a/x.py\r\n+++ b/x.py\r\n", {"x.py"}),
    "none": ("just text\n- a\n+ b\n", set()),
    "empty": ("", set()),
}


@pytest.mark.parametrize("kind", BODIES)
def test_the_files_of_a_patch(kind: str) -> None:
    body, files = BODIES[kind]
    found = {path for path, _, _ in patch_paths(body)}
    assert files <= found
    # Beside them there is only the same with its first folder, or without.
    for path in found - files:
        assert any(path.endswith(f"/{file}") or file.endswith(f"/{path}") for file in files)


def test_each_path_stands_where_it_is_said_to() -> None:
    body = "diff --git a/x.py b/x.py\n--- a/x.py\tdate\n+++ b/x.py\n*** Add File:  n.py\n"
    for path, start, end in patch_paths(body):
        assert body[start:end].endswith(path)


LINE = st.sampled_from(["--- ", "+++ ", "diff --git ", "*** Add File: ", "rename to ", "*** ", ""])


@given(st.lists(st.tuples(LINE, st.text(' ab/"\\0173\t\r.é', max_size=12)), max_size=6))
def test_no_text_breaks_the_reading(lines: list[tuple[str, str]]) -> None:
    body = "\n".join(mark + rest for mark, rest in lines)
    for _, start, end in patch_paths(body):
        assert 0 <= start <= end <= len(body)
