"""Getting the result of a coroutine without paying for an event loop that it doesn't need."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def result_of(make: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """The result of the coroutine that ``make`` makes.

    Importing asyncio takes as long as starting Python, and most plans wait for nothing. So the
    coroutine is first run by hand; when it turns out to need a loop it is thrown away, and a new
    one is made and run in a loop. ``make`` must therefore be harmless to call twice.

    Who waits for something has imported asyncio by then and gets a RuntimeError without a loop,
    of which somebody in between may have made another error.
    """
    if "asyncio" not in sys.modules:
        coroutine = make()
        try:
            coroutine.send(None)
        except StopIteration as done:
            result: Result = done.value
            return result
        except Exception as error:
            if "asyncio" not in sys.modules or not _made_of_a_runtime_error(error):
                raise
        finally:
            coroutine.close()
    import asyncio

    return asyncio.run(make())


def _made_of_a_runtime_error(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, RuntimeError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
