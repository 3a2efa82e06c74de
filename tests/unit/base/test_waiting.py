"""A coroutine's result, with a loop only where it needs one."""

from __future__ import annotations

import subprocess
import sys

import pytest

CASES = {
    "nothing": "async def f(): return 7\nprint(result_of(f))",
    "inner": "async def g(): return 3\nasync def f(): return await g() + 4\nprint(result_of(f))",
    "sleeps": "async def f():\n import asyncio; await asyncio.sleep(0.001); return 7\n"
    "print(result_of(f))",
    "yields": "async def f():\n import asyncio; await asyncio.sleep(0); return 7\n"
    "print(result_of(f))",
    "wrapped": "async def f():\n import asyncio\n try: await asyncio.sleep(0.001)\n"
    " except RuntimeError as error: raise ValueError('as theirs') from error\n return 7\n"
    "print(result_of(f))",
    "starts": "async def f():\n import asyncio\n"
    " done = await asyncio.create_subprocess_exec('/bin/sh', '-c', 'exit 7')\n"
    " return await done.wait()\nprint(result_of(f))",
    "fails": "async def f(): raise KeyError(7)\ntry: result_of(f)\n"
    "except KeyError as error: print(error.args[0])",
    "fails-in-a-loop": "async def f():\n import asyncio; await asyncio.sleep(0.001)\n"
    " raise KeyError(7)\ntry: result_of(f)\nexcept KeyError as error: print(error.args[0])",
    "fails-beside-a-loop": "tries = []\nasync def f():\n import asyncio; tries.append(1)\n"
    " raise KeyError(6 + len(tries))\ntry: result_of(f)\n"
    "except KeyError as error: print(error.args[0])",
    "cleans-up": "made = []\nasync def f():\n import asyncio; made.append(1)\n"
    " try: await asyncio.sleep(0)\n finally: made.pop()\n return 7 + len(made)\n"
    "print(result_of(f))",
}


@pytest.mark.parametrize("case", CASES)
def test_the_result(case: str) -> None:
    script = f"from barry_cli.base.waiting import result_of\n{CASES[case]}\n"
    tell = "import sys; print('asyncio' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script + tell],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    loop = case not in ("nothing", "inner", "fails")
    assert (done.stdout, done.stderr) == (f"7\n{loop}\n", "")
