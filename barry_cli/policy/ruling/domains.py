"""Host names: one spelling for each, and the rules that deny them."""

SPECIAL = frozenset(("http", "https", "ftp", "ws", "wss"))
"""Schemes after which clients take any number of slashes, and of either kind."""

LONGEST = 1024
"""Characters. A longer text is no host."""


def canonical(host: str) -> str:
    """The one spelling of a host: lower case, no trailing dot, no brackets, port or user.

    Names beyond ASCII are written as DNS has them (`xn--..`), IPv4 addresses in any of inet_aton's
    forms with four numbers, IPv6 ones shortened. Never raises; what is no host is kept, in lower
    case. Spelling the result once more changes nothing.
    """
    if len(host) > LONGEST:
        return host.lower()
    # Escapes may hide escapes.
    for _ in range(LONGEST):
        spelled = _spelled(host)
        if spelled == host:
            break
        host = spelled
    return host


def is_local(host: str) -> bool:
    """The machine itself, which no bound on hosts closes."""
    return (
        host in {"localhost", "::1", "::", "0.0.0.0"}  # noqa: S104 - compared, not bound to
        or host.endswith(".localhost")
        or (host.startswith("127.") and _ipv4(host) == host)
    )


def compile_domains(
    patterns: "tuple[str, ...] | list[str]", urls: bool = False
) -> tuple[tuple[str, str], ...]:
    """Each pattern as it was written, and its canonical spelling. Empty ones are left out.

    `.x` is `*.x`. `urls`: one that is written as a URL stands for its whole host.
    """
    pairs = [(pattern, _pattern(pattern.strip(), urls)) for pattern in patterns]
    return tuple([pair for pair in pairs if pair[1]])


def _pattern(pattern: str, urls: bool) -> str:
    if urls and "/" in pattern and not is_block(pattern):
        pattern = next(iter(hosts_of(pattern)), "")
    return canonical(f"*{pattern}" if pattern[:1] == "." else pattern)


def is_block(pattern: str) -> bool:
    """`10.0.0.0/8`, `2001:db8::/32`: the addresses that begin with so many bits."""
    return _block(pattern) is not None


def _block(pattern: str) -> "tuple[bytes, int] | None":
    address, slash, bits = pattern.partition("/")
    if not slash or not bits.isdecimal() or not bits.isascii() or len(bits) > 3:
        return None
    packed = _packed(address)
    return (packed, int(bits)) if packed and int(bits) <= len(packed) * 8 else None


def _packed(address: str) -> bytes:
    """An address as bytes, empty for what is none."""
    import _socket

    family = _socket.AF_INET6 if ":" in address else _socket.AF_INET
    try:
        return _socket.inet_pton(family, address)
    except (OSError, ValueError):
        return b""


def _in_block(pattern: str, name: str) -> bool:
    block = _block(pattern)
    packed = _packed(name) if block and (":" in name or name[-1:].isdecimal()) else b""
    if block is None or len(packed) != len(block[0]):
        return False
    left = len(packed) * 8 - block[1]
    return int.from_bytes(packed, "big") >> left == int.from_bytes(block[0], "big") >> left


def domain_rule(name: str, patterns: tuple[tuple[str, str], ...]) -> str | None:
    """The first pattern, as it was written, that matches a canonical host.

    `*.x` needs at least one label before x; anything else without a star is one exact host, or a
    block of addresses. A star elsewhere stands for any characters.
    """
    for written, pattern in patterns:
        if name and _matches(pattern, name):
            return written
    return None


def hosts_of(text: str) -> tuple[str, ...]:
    """The hosts that a URL, `user@host:port` or bare `host/path` may reach, canonical.

    More than one only where clients disagree about the text; none for a local file.
    """
    for space in "\t\r\n":
        text = text.replace(space, "")
    scheme, rest = split_scheme(text)
    if scheme == "file":
        return ()
    for end in "/?#":
        rest = rest.partition(end)[0]
    # A browser ends the host at a backslash, curl reads on.
    found = [canonical(each.rpartition("@")[2]) for each in {rest, rest.partition("\\")[0]}]
    return tuple(host for host in dict.fromkeys(found) if host)


def split_scheme(text: str) -> tuple[str, str]:
    """A URL's scheme in lower case, "" without one, and what stands behind its slashes."""
    scheme, colon, rest = text.partition(":")
    scheme = scheme.lower()
    if colon and scheme in SPECIAL:
        return scheme, rest.lstrip("/\\")
    plain = scheme.replace("+", "").replace("-", "").replace(".", "")
    if rest[:2] == "//" and plain.isalnum() and scheme[:1].isalpha():
        return scheme, rest[2:]
    return "", text[2:] if text[:2] == "//" else text


def copied_host(text: str) -> str:
    """The host in the `user@host:path` and `host::module` of copying programs; "" if local."""
    if text[:1] == "[" or text.partition("@")[2][:1] == "[":
        inside, closed, rest = text.partition("[")[2].partition("]")
        return canonical(inside) if closed and rest[:1] == ":" else ""
    head, colon, _ = text.partition(":")
    if not colon or not head or "/" in head:
        return ""
    return canonical(head.rpartition("@")[2])


def _matches(pattern: str, name: str) -> bool:
    if pattern[:2] == "*." and "*" not in pattern[2:]:
        return name.endswith(pattern[1:]) and len(name) > len(pattern) - 1
    if "*" not in pattern:
        return name == pattern or ("/" in pattern and _in_block(pattern, name))
    first, *rest = pattern.split("*")
    last = rest.pop()
    if len(first) + len(last) > len(name) or name[: len(first)] != first:
        return False
    if not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in rest:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def _spelled(host: str) -> str:
    host = host.strip().lower()
    if "%" in host:
        from barry_cli.policy.ruling.paths import unescape

        host = unescape(host)
    if not host.isascii():
        host = _in_ascii(host)
    host = _without_port(host)
    if ":" in host:
        return _ipv6(host.partition("%")[0])
    host = host.removesuffix(".")
    return _ipv4(host) or host


def _without_port(host: str) -> str:
    if host[:1] == "[":
        inside, closed, _ = host[1:].partition("]")
        return inside if closed else host
    name, colon, port = host.rpartition(":")
    if colon and ":" not in name and (not port or port.isdecimal()):
        return name
    return host


def _ipv4(host: str) -> str:
    """Four numbers for 127.1, 0x7f000001, 0177.0.0.1 and the like; "" for what is none."""
    parts = host.split(".")
    if len(parts) > 4 or not parts[-1]:
        return ""
    numbers = []
    for part in parts:
        number = _number(part)
        if number < 0:
            return ""
        numbers.append(number)
    *heads, last = numbers
    if any(number > 255 for number in heads) or last >= 256 ** (5 - len(numbers)):
        return ""
    value = last
    for index, number in enumerate(heads):
        value += number << (24 - 8 * index)
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _number(text: str) -> int:
    if not text.isascii() or not text[:1].isdigit() or not text.isalnum() or len(text) > 16:
        return -1
    try:
        if text[:2] in {"0x", "0X"}:
            return int(text[2:] or "0", 16)
        return int(text, 8) if text[:1] == "0" and len(text) > 1 else int(text)
    except ValueError:
        return -1


def _ipv6(host: str) -> str:
    import _socket

    try:
        data = _socket.inet_pton(_socket.AF_INET6, host)
    except (OSError, ValueError):
        return host
    if data[:12] == b"\0" * 10 + b"\xff\xff":
        return ".".join(map(str, data[12:]))
    return _socket.inet_ntop(_socket.AF_INET6, data)


def _in_ascii(host: str) -> str:
    import unicodedata

    host = unicodedata.normalize("NFKC", host).lower()
    host = unicodedata.normalize("NFC", host)
    for dot in "\u3002\uff0e\uff61":
        host = host.replace(dot, ".")
    labels = []
    for label in host.split("."):
        if label.isascii():
            labels.append(label)
            continue
        try:
            # Soft hyphens and joiners are left out, as resolvers do.
            plain = "".join(char for char in label if char not in "\u00ad\u200b\u2060\ufeff")
            code = plain if plain.isascii() else "xn--" + plain.encode("punycode").decode("ascii")
            labels.append(code)
        except ValueError:
            labels.append(label)
    return ".".join(labels)
