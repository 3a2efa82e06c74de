"""What a line runs, as plain data."""

from barry_cli.policy.ruling.programs.call import Found
from barry_cli.policy.ruling.programs.chains import chain


def argvs(found: Found) -> list[list[str]]:
    """Every argument vector, each outer one before what it runs."""
    return [call.argv for call in found.calls]


def programs(found: Found) -> list[str]:
    """The programs' basenames, each once, in the order in which they were first seen."""
    return list(dict.fromkeys([call.name for call in found.calls if call.name]))


def subcommands(found: Found) -> dict[str, list[str]]:
    """Program -> its subcommand chains, the words of a chain joined by colons."""
    chains: dict[str, list[str]] = {}
    for call in found.calls:
        if call.name:
            words = chain(call.words, call.name)
            text = ":".join(words)
            listed = chains.setdefault(call.name, [])
            if words and text not in listed:
                listed.append(text)
    return {name: listed for name, listed in chains.items() if listed}
