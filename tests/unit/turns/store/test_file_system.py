"""Where the database may lie: on a disk of this machine, by what the table of mounts says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.paths import folders
from barry_cli.base.problems import StoreProblem
from barry_cli.turns.store import file_system
from barry_cli.turns.store.database import connect
from barry_cli.turns.store.file_system import is_network, mount_type, refuse_network

TABLE = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:5 / /proc rw,nosuid - proc proc rw
30 22 0:40 / /home rw,relatime shared:2 master:1 - nfs4 server:/home rw,vers=4.2
31 30 0:41 / /home/ada/local\\040disk rw - xfs /dev/sdb rw
32 22 0:42 / /mnt/ä\\134b rw - fuse.sshfs host:/ rw
33 22 0:43 / /mnt/twice rw - ext4 /dev/sdc rw
34 33 0:44 / /mnt/twice rw - cifs //host/share rw
35 22 0:45 / /home2 rw - btrfs /dev/sdd rw
a line that means nothing
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", "ext4"),
        ("/srv/barry", "ext4"),
        ("/home", "nfs4"),
        ("/home/ada/.local/state", "nfs4"),
        ("/home2/ada", "btrfs"),
        ("/home/ada/local disk/state", "xfs"),
        ("/mnt/ä\\b/x", "fuse.sshfs"),
        ("/mnt/twice/x", "cifs"),
    ],
)
def test_the_longest_and_last_mount_counts(folder: str, kind: str) -> None:
    assert mount_type(folder, TABLE) == kind


def test_types_that_more_than_one_kernel_writes_to() -> None:
    for kind in "nfs nfs4 cifs smb3 9p virtiofs ceph fuse.sshfs fuse.rclone fuse.cephfs".split():
        assert is_network(kind), kind
    for kind in "ext4 xfs btrfs zfs tmpfs overlay apfs fuse fuseblk fuse.bindfs ntfs3".split():
        assert not is_network(kind), kind


def tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"22 1 254:0 / / rw,relatime shared:1 - {kind} somewhere rw\n")
    monkeypatch.setattr(file_system, "MOUNTS", str(table))
    monkeypatch.setattr(file_system, "LINUX", True)


def test_a_network_file_system_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = folders().database
    tell(monkeypatch, tmp_path, "nfs4")
    with pytest.raises(StoreProblem, match=r"network file system \(nfs4\)") as problem:
        connect(path)
    assert "BARRY_HOME" in problem.value.hint
    assert not path.exists()
    tell(monkeypatch, tmp_path, "ext4")
    connect(path).close()
    for name, value in (("MOUNTS", str(tmp_path / "nothing")), ("LINUX", False)):
        tell(monkeypatch, tmp_path, "nfs4")
        monkeypatch.setattr(file_system, name, value)
        refuse_network(path)  # what nobody tells is not refused


@given(st.text(max_size=200), st.text(st.sampled_from(" -/\\0a\n1"), max_size=60))
def test_any_table_is_read(folder: str, table: str) -> None:
    assert mount_type(f"/{folder}", table) is None or "-" in table
