"""Who is at the other end of a unix socket, as the kernel tells."""

from __future__ import annotations

import socket
import struct
import sys

from barry_cli.inbox.messages import Peer


def peer_of(link: socket.socket) -> Peer | None:
    """The process that connected, and its user; None where the kernel doesn't tell."""
    try:
        if sys.platform == "darwin":
            return _told_by_darwin(link)
        size = struct.calcsize("3i")
        pid, uid, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, _PEERCRED, size))
    except (OSError, struct.error):
        return None
    return Peer(pid=pid or None, uid=uid)


_PEERCRED = getattr(socket, "SO_PEERCRED", 17)


def _told_by_darwin(link: socket.socket) -> Peer:
    local, credentials, number = 0, 1, 2  # SOL_LOCAL, LOCAL_PEERCRED, LOCAL_PEERPID
    # struct xucred: its version, the uid, how many groups, and the groups
    _, uid = struct.unpack("2I", link.getsockopt(local, credentials, 76)[:8])
    (pid,) = struct.unpack("i", link.getsockopt(local, number, 4))
    return Peer(pid=pid or None, uid=uid)
