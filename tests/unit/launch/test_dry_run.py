"""A dry run shows all that would happen and does none of it."""

from __future__ import annotations

from pathlib import Path

from tests.toy import Barry, write_harness

WORDS = ("session", "launch", "toy", "--dry-run")


def test_nothing_starts_and_nothing_is_recorded(barry: Barry) -> None:
    barry.install(tmp_dirs=True, discover=True)
    with barry.leaves_nothing():
        done = barry.run(*WORDS)
        assert barry.run(*WORDS, "--json").code == 0
    assert (done.code, done.err) == (0, "")
    assert not barry.folders.database.exists()
    assert "start         supervise (temporary folders are to be removed, " in done.out


def test_it_asks_no_terminal_and_tells_all(barry: Barry) -> None:
    barry.install(reserves=True, lowers=True, warnings=("mind the step",))
    more = ("--root", str(barry.top), "--", "it's", "a b")
    plan = barry.run(*WORDS, "--json", *more).json["plan"]
    toy = str(barry.bin / "toy")
    assert plan["argv"] == [toy, f"--root={barry.top}", "it's", "a b"]
    assert plan["binary"] == {"path": toy, "why": "on PATH", "version": "1.2.3"}
    assert (plan["adapter"], plan["mode"], plan["cwd"]) == ("toy", "guest", str(barry.work))
    assert plan["guarantees"]["gating"] == "none"
    assert plan["lowered"] == {"gating": "the toy is worn out"}
    assert plan["warnings"] == [
        "mind the step",
        "gating is only none in this launch: the toy is worn out",
    ]
    assert (plan["start"], plan["startReasons"]) == ("exec", [])
    assert plan["harnessSessionId"]
    text = barry.run(*WORDS, *more).out
    assert f"command       {toy} --root={barry.top} 'it'\"'\"'s' 'a b'" in text
    assert "warning: mind the step" in text
    supervised = barry.run(*WORDS, "--json", "--supervise").json["plan"]
    assert (supervised["start"], supervised["startReasons"]) == ("supervise", ["--supervise"])


def test_an_alias_and_a_prefix_mean_the_adapter(barry: Barry) -> None:
    for name in ("oldtoy", "to"):
        plan = barry.run("session", "launch", name, "--dry-run", "--json").json["plan"]
        assert plan["adapter"] == "toy"
        assert ("to was taken for toy" in plan["notes"]) == (name == "to")


def test_what_a_package_says_moves_no_cursor(barry: Barry) -> None:
    barry.install(
        warnings=("up\x1b[2Jand away\nerror: forged",), planning="draft.args.append('\\x1b[2J')"
    )
    done = barry.run(*WORDS)
    assert "\x1b" not in done.out + done.err
    assert "\nerror:" not in done.out


def test_a_build_that_is_not_known(barry: Barry) -> None:
    write_harness(barry.bin / "toy", "#!/bin/sh\necho hello\n")
    done = barry.run(*WORDS)
    assert f"binary        {barry.bin}/toy, build not known (on PATH)\n" in done.out
    assert "None" not in done.out


def test_the_version_is_asked_for_once_per_build(barry: Barry) -> None:
    count = barry.top / "asked"
    script = f'#!/bin/sh\necho x >> {count}\necho "toy 1.2.3"\n'
    write_harness(barry.bin / "toy", script)
    for _ in range(3):
        assert barry.run(*WORDS).code == 0
    assert count.read_text() == "x\n"
    write_harness(barry.bin / "toy", script + "# another build\n")
    barry.run(*WORDS)
    assert count.read_text() == "x\nx\n"


def test_the_version_is_asked_for_without_any_key(barry: Barry) -> None:
    seen = barry.top / "seen"
    write_harness(barry.bin / "toy", f'#!/bin/sh\nenv > {seen}\necho "toy 1.2.3"\n')
    assert barry.run(*WORDS, env={"TOY_KEY": "made-up-key", "OTHER_TOKEN": "x"}).code == 0
    assert "KEY" not in seen.read_text()
    assert "TOKEN" not in seen.read_text()


def test_it_leaves_barrys_home_as_it_was_but_for_the_cache(barry: Barry) -> None:
    home = Path(barry.env["BARRY_HOME"])
    barry.run(*WORDS)
    names = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert names <= {"data/adapters.json", "cache/probes.json", "cache/probes.json.lock"}
