"""Reading a URL: http and https alone, every hop of a redirect ruled on anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from barry_cli.guard.output import MOST
from barry_cli.guard.problems import NotDone

if TYPE_CHECKING:
    import httpx2

SECONDS = 30
"""How long one call may take, with all its hops."""

BYTES = 1 << 20
"""As much of an answer is read."""

HOPS = 10

_REDIRECTS = (301, 302, 303, 307, 308)
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript")

Check = Callable[[str], None]
"""Raises NotDone for a URL that may not be read."""


async def fetch(url: str, check: Check) -> list[str]:
    """What was answered, and what it is. Raises NotDone."""
    import httpx2

    try:
        with anyio.fail_after(SECONDS):
            # What compresses well would fill the memory: it is asked for as it is.
            headers = {"Accept-Encoding": "identity", "User-Agent": "barry"}
            async with httpx2.AsyncClient(timeout=SECONDS, headers=headers) as client:
                return await _follow(client, url, check)
    except TimeoutError:
        raise NotDone(f"{url} was not answered within {SECONDS} seconds") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        raise NotDone(f"{url} can't be read: {str(error) or type(error).__name__}") from None


async def _follow(client: httpx2.AsyncClient, url: str, check: Check) -> list[str]:
    for _ in range(HOPS):
        target = _target(url)
        # By what was written and by what will be asked for: nobody reads one as the other.
        check(url)
        check(str(target))
        async with client.stream("GET", target) as response:
            where = response.headers.get("location")
            if response.status_code not in _REDIRECTS or not where:
                return await _answer(response)
            url = str(target.join(where))
    raise NotDone(f"it was redirected more than {HOPS} times")


def _target(url: str) -> httpx2.URL:
    import httpx2

    if any(char.isspace() or not char.isprintable() or char == "\\" for char in url):
        raise NotDone("a URL holds no spaces, control characters or backslashes")
    target = httpx2.URL(url)
    if target.scheme not in ("http", "https") or not target.host:
        raise NotDone("only URLs of http and https are read, with a host in them")
    if target.userinfo:
        raise NotDone("a URL with a user or a password in it is not read")
    if (target.port or 0) > 65_535:
        raise NotDone("a URL's port is at most 65535")
    return target


async def _answer(response: httpx2.Response) -> list[str]:
    kind = response.headers.get("content-type", "")
    said = f"[{response.status_code} {response.url} {kind}]"
    if response.headers.get("content-encoding", "identity") != "identity":
        raise NotDone(f"{said} it is compressed, though it was asked for as it is")
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) > BYTES:
            del data[BYTES:]
            break
    if b"\0" in data or not _is_text(kind):
        raise NotDone(f"{said} it is no text")
    text = _decoded(data, response.charset_encoding)
    if len(data) == BYTES or len(text) > MOST:
        return [said, text[:MOST], f"[the first {MOST:,} characters are shown]"]
    return [said, text]


def _decoded(data: bytearray, charset: str | None) -> str:
    try:
        return data.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):  # none that is known here, or none of texts
        return data.decode("utf-8", "replace")


def _is_text(kind: str) -> bool:
    name = kind.partition(";")[0].strip().lower()
    return not name or name.startswith(_TEXTS) or name.endswith(("+json", "+xml"))
