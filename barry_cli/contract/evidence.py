"""Messages on their way into a harness, and how its own evidence is read for them."""

from __future__ import annotations

from collections.abc import Mapping


def spoken(message: Mapping[str, str]) -> str:
    """A message as the agent reads it: its content as it is, below a line with who it is from.

    The sender's name is a claim, and is told as one.
    """
    sender = message.get("from")
    if not sender:
        return message["content"]
    name = " ".join(sender.split())
    return f"[message from {name}, sent through Barry]\n{message['content']}"


class Underway:
    """What was written into a harness and is not yet shown to have arrived, oldest first.

    For an adapter whose harness keeps no id of ours: a text of its that holds a whole message
    shows that one, and each text counts once for each message in it.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}

    def wrote(self, message_id: str, text: str) -> None:
        """A message is about to be written: evidence may come before the writing has returned."""
        self._waiting[message_id] = text

    def failed(self, message_id: str) -> None:
        """Nothing received it after all."""
        self._waiting.pop(message_id, None)

    @property
    def waiting(self) -> bool:
        """Whether anything is on its way."""
        return bool(self._waiting)

    def whole(self, text: str) -> list[str]:
        """The ids of the messages that a text is made of, oldest first, joined by blank lines.

        None where anything else stands in it: a word that somebody else said shows no message.
        """
        found: list[str] = []
        rest: str | None = text
        for message_id, expected in self._waiting.items():
            if rest == expected:
                found.append(message_id)
                rest = None
                break
            if rest is not None and rest.startswith(f"{expected}\n\n"):
                found.append(message_id)
                rest = rest[len(expected) + 2 :]
        if rest is not None:
            return []
        for message_id in found:
            del self._waiting[message_id]
        return found

    def seen(self, text: str) -> list[str]:
        """The ids of the messages that a text of the harness's shows, oldest first."""
        found: list[str] = []
        rest = text
        for message_id, expected in list(self._waiting.items()):
            before, there, after = rest.partition(expected)
            if there:
                # What showed one message must not show another one with the same words.
                rest = before + "\0" + after
                del self._waiting[message_id]
                found.append(message_id)
        return found
