"""Mounting a member's notes, until somebody unmounts them: what has to be there, and what is said when it is not."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from mycel.contracts.memory_api import MemoryApi
from mycel.durable_file import replace_file
from mycel.errors import InvalidInput, Misconfigured, install_command
from mycel.surfaces.mount.file_system import NoteFileSystem
from mycel.surfaces.mount.held import HeldFile
from mycel.surfaces.mount.notes import MountedNotes

NO_FUSE = "a mount needs FUSE: on Debian and Ubuntu `apt-get install fuse3`, on macOS macFUSE from macfuse.io"
NO_DEVICE = "this machine lends no /dev/fuse: a container gets it with `--device /dev/fuse --cap-add SYS_ADMIN`"
MOST_THREADS = 10
_DEVICE = Path("/dev/fuse")


def require_fuse() -> ModuleType:
    """The library. Raises `Misconfigured` with what is missing."""
    try:
        import mfusepy  # pyright: ignore[reportMissingTypeStubs]
    except ModuleNotFoundError:
        raise Misconfigured(f"a mount needs the package mfusepy: {install_command('mount')}") from None
    except (OSError, AttributeError):
        raise Misconfigured(NO_FUSE) from None
    if os.name == "posix" and os.uname().sysname == "Linux" and not _DEVICE.exists():
        raise Misconfigured(NO_DEVICE)
    return mfusepy


def mount(
    directory: Path,
    memory: MemoryApi,
    *,
    left: Path,
    say: Callable[[str], None],
    read_only: bool = False,
    allows_removals: bool = False,
) -> None:
    """Until it is unmounted. Files that are no notes and that somebody would miss are then laid into `left`."""
    fuse = require_fuse()
    root = _mount_point(directory)
    notes = MountedNotes(memory, say, allows_removals=allows_removals)
    notes.read()
    is_over, is_mounted = threading.Event(), threading.Event()

    def begin() -> None:
        threading.Thread(target=notes.keep_up, args=(is_over,), name="mounted notes", daemon=True).start()
        is_mounted.set()
        say(f"{root} shows what {memory.member_id} sees of {memory.team}; Ctrl-C or `umount {root}` ends it.")

    files = NoteFileSystem(memory, notes, writer=lambda path: _writer(fuse, root, path), begin=begin)
    # What is read is what stands: the kernel keeps neither bytes nor sizes, since others change them.
    options: dict[str, object] = {"attr_timeout": 0, "entry_timeout": 0, "direct_io": True, "ro": read_only}
    if (fuse.fuse_version_major, fuse.fuse_version_minor) >= (3, 12):
        # By itself this library says on the terminal that it does not understand its own defaults.
        options |= {"max_threads": MOST_THREADS, "max_idle_threads": MOST_THREADS}
    try:
        fuse.FUSE(files, str(root), foreground=True, fsname="mycel", subtype="notes", **options)
    except RuntimeError:
        # The loop ends with a number after a signal too, and then all was in order.
        if not is_mounted.is_set():
            raise Misconfigured(f"the system did not mount {root}; its reason stands above") from None
    finally:
        is_over.set()
        _lay_aside(list(notes.held.values()), left, say)


def _mount_point(directory: Path) -> Path:
    """An empty folder, made if there is none."""
    root = directory.absolute()
    try:
        root.stat()
    except FileNotFoundError:
        if root.parent.is_dir():
            root.mkdir()
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise
        # Of a process that was killed: nobody answers there any more.
        _unmount(root)
    if not root.is_dir() or root.is_mount() or any(root.iterdir()):
        raise InvalidInput(f"{root} must be an empty folder, or one that can be made", field="dir")
    return root


def _unmount(root: Path) -> None:
    for command in (("fusermount3", "-u"), ("fusermount", "-u"), ("umount",)):
        try:
            if subprocess.run([*command, str(root)], check=False, capture_output=True).returncode == 0:
                return
        except FileNotFoundError:
            continue
    raise Misconfigured(f"a mount at {root} was killed and cannot be taken away: `umount -l {root}` does")


def _writer(fuse: ModuleType, root: Path, path: str) -> tuple[int, bool]:
    """The process that is calling, and whether it has this file open still."""
    task = fuse.fuse_get_context()[2]
    try:
        status = Path(f"/proc/{task}/status").read_text()
        process = int(status.partition("Tgid:")[2].split(maxsplit=1)[0])
        # Names alone are read: to look at the files themselves would be to ask this very process.
        return process, any(_points_to(one, f"{root}{path}") for one in Path(f"/proc/{process}/fd").iterdir())
    except (OSError, ValueError, IndexError):
        # No Linux, or a process that has ended meanwhile.
        return task, False


def _points_to(link: Path, name: str) -> bool:
    try:
        return str(link.readlink()) == name
    except OSError:
        return False


def _lay_aside(held: list[HeldFile], left: Path, say: Callable[[str], None]) -> None:
    for one in held:
        if one.is_worth_keeping:
            place = left / one.file
            place.parent.mkdir(parents=True, exist_ok=True)
            replace_file(place, bytes(one.content), mode=0o600)
            say(f"{one.file}: was not saved as a memory; what was written lies in {place}")
