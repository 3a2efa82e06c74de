"""An executor that is not this machine: log-ins, and a program that is installed there."""

from __future__ import annotations

from pathlib import Path

import pytest

from barry_cli.base.local_executor import LocalExecutor
from barry_cli.contract.plan import Command
from barry_cli.headless.bootstrap import Recipe, recipe
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.harness import CliHarness
from barry_cli.headless.plans import CredentialPlan
from tests.unit.headless.toy_agent import agent, read, session

NPM = """#!/bin/sh
test "$1" = install || exit 9
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/.bin"
echo "$@" > "$2/asked"
cat > "$2/node_modules/.bin/toy-agent" <<'END'
#!/bin/sh
echo '{"text": "installed"}'
END
chmod +x "$2/node_modules/.bin/toy-agent"
"""


class Elsewhere(LocalExecutor):
    """Behaves as if it were another machine."""

    local = False


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def asked(tmp_path: Path) -> dict[str, object]:
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    return {"executor": Elsewhere(), "env": {"PATH": path}}


async def test_a_missing_program_is_installed_once(tmp_path: Path, home: Path) -> None:
    program(tmp_path / "bin", "npm", NPM)
    adapter = agent(
        tmp_path, "", bootstrap="npm:@toy/agent@1.2.3",
        request=lambda given: Command(command="toy-agent"),
    )  # fmt: skip
    for _ in range(2):
        harness = CliHarness(adapter)
        await harness.start_session(session(**asked(tmp_path)))
        await read(harness.run_turn("x"))
        assert harness.last_turn is not None
        assert harness.last_turn.text == "installed"
        assert harness.executable == str(
            home / ".local/share/barry/agents/node_modules/.bin/toy-agent"
        )
        await harness.close()
        (tmp_path / "bin/npm").unlink(missing_ok=True)  # the second time nothing is installed
    told = (home / ".local/share/barry/agents/asked").read_text().split()
    assert told[-2:] == ["--", "@toy/agent@1.2.3"]
    assert "--ignore-scripts" in told


async def test_what_is_there_is_used(tmp_path: Path) -> None:
    program(tmp_path / "bin", "toy-agent", '#!/bin/sh\necho \'{"text": "found"}\'\n')
    harness = CliHarness(agent(tmp_path, "", request=lambda given: Command(command="toy-agent")))
    await harness.start_session(session(**asked(tmp_path)))
    assert harness.executable == str(tmp_path / "bin/toy-agent")
    await harness.close()


@pytest.mark.parametrize(
    ("npm", "bootstrap", "says"),
    [
        (None, None, "nothing of that name"),
        (None, "npm:toy@1.0.0", "npm can't be run"),
        ("#!/bin/sh\nexit 3\n", "npm:toy@1.0.0", "status 3"),
        ("#!/bin/sh\nexit 0\n", "npm:toy@1.0.0", "nothing of that name"),
    ],
)
async def test_what_cannot_be_installed(
    tmp_path: Path, npm: str | None, bootstrap: str | None, says: str
) -> None:
    if npm is not None:
        program(tmp_path / "bin", "npm", npm)
    harness = CliHarness(
        agent(tmp_path, "", bootstrap=bootstrap,
              request=lambda given: Command(command="toy-agent"))
    )  # fmt: skip
    given = asked(tmp_path)
    given["env"] = {"PATH": f"{tmp_path / 'bin'}:{tmp_path / 'sh'}"}
    program(tmp_path / "sh", "sh", '#!/bin/sh\nexec /bin/sh "$@"\n')
    with pytest.raises(AgentFault, match=says) as caught:
        await harness.start_session(session(**given))
    assert caught.value.code == "configuration"


async def test_nothing_is_installed_here(tmp_path: Path) -> None:
    program(tmp_path / "bin", "npm", NPM)
    harness = CliHarness(
        agent(tmp_path, "", bootstrap="npm:toy@1.0.0",
              request=lambda given: Command(command="toy-agent"))
    )  # fmt: skip
    await harness.start_session(session(env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}))
    found = await read(harness.run_turn("x"))
    assert "can't be started" in found[0].error
    await harness.close()


@pytest.mark.parametrize("right", [True, False])
async def test_a_log_in(tmp_path: Path, right: bool) -> None:
    program(tmp_path / "bin", "toy-agent", "#!/bin/sh\n")
    script = f'read key; test "$key" = {"token" if right else "other"} && touch {tmp_path}/in'
    plan = CredentialPlan(commands=(Command(command="sh", args=("-c", script), stdin="token\n"),))
    harness = CliHarness(
        agent(tmp_path, "", request=lambda given: Command(command="toy-agent"),
              credentials=lambda variables: plan)
    )  # fmt: skip
    if right:
        await harness.start_session(session(**asked(tmp_path)))
        assert (tmp_path / "in").exists()
        await harness.close()
    else:
        with pytest.raises(AgentFault, match="could not be logged in"):
            await harness.start_session(session(**asked(tmp_path)))


@pytest.mark.parametrize(
    ("text", "package", "version"),
    [("npm:toy@1.0.0", "toy", "1.0.0"), ("npm:@a/b@2.1.197-x", "@a/b", "2.1.197-x")],
)
def test_a_recipe(text: str, package: str, version: str) -> None:
    assert recipe(text) == Recipe(package, version)


@pytest.mark.parametrize(
    "text",
    ["", "toy", "npm:toy", "npm:toy@latest", "npm:-g@1.0.0", "pip:x@1", "npm:a b@1", "npm:a@1\n"],
)
def test_what_is_no_recipe(tmp_path: Path, text: str) -> None:
    with pytest.raises(AgentFault) as caught:
        agent(tmp_path, "", bootstrap=text)
    assert caught.value.code == "configuration"
