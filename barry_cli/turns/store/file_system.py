"""Where the database may lie: a write-ahead log needs memory that all its writers share."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from barry_cli.base.problems import StoreProblem

LINUX = sys.platform.startswith("linux")
MOUNTS = "/proc/self/mountinfo"

NETWORK = frozenset(
    "nfs nfs3 nfs4 cifs smb smb2 smb3 smbfs ncpfs ncp afs coda 9p virtiofs ceph glusterfs lustre "
    "gfs gfs2 ocfs2 gpfs beegfs orangefs pvfs2 davfs vboxsf prl_fs fakeowner".split()
)
"""Types of file systems that more than one machine, or more than one kernel, writes to."""

_FUSE = re.compile(
    r"fuse\.(sshfs|s3fs|gcsfuse|goofys|rclone|davfs2?|curlftpfs|glusterfs|ceph.*|cvmfs.*|smb.*"
    r"|juicefs|moosefs|mfs|lizardfs|gvfsd-fuse|vmhgfs-fuse|blobfuse2?|google-drive.*|grpcfuse|osxfs)"
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def refuse_network(path: Path) -> None:
    """Raise StoreProblem where SQLite's write-ahead log can't be trusted.

    Linux tells the type of a mount; where nothing tells it, nothing is refused.
    """
    if not LINUX:
        return
    try:
        with open(MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            table = file.read()
    except OSError:
        return
    kind = mount_type(os.path.realpath(path.parent), table)
    if kind is not None and is_network(kind):
        raise StoreProblem(
            f"{path} would lie on a network file system ({kind}), where two machines, or two "
            "kernels, could each write to it and neither see the other",
            hint="set BARRY_HOME to a folder on a disk of this machine",
            details={"path": str(path), "fileSystem": kind},
        )


def is_network(kind: str) -> bool:
    """Whether a file system of this type is shared beyond one kernel."""
    return kind in NETWORK or _FUSE.fullmatch(kind) is not None


def mount_type(folder: str, table: str) -> str | None:
    """The type of the file system that a folder lies on, by a table like ``mountinfo``.

    A line: id, parent, device, root, mount point, options, any number of optional fields, ``-``,
    type, source, options. Of two mounts on one point the later one counts.
    """
    found, longest = None, -1
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 9 or "-" not in fields[6:]:
            continue
        point = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), fields[4])
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:
            after = fields.index("-", 6) + 1
            if after < len(fields):
                found, longest = fields[after], len(point)
    return found
