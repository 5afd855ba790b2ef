"""The file system: bounded reads, streams, private directories and atomic writes.

Who flushes to the disk (`fsync`), and why:

- Durable files of the user, stored conflicts and evidence are flushed before they get their names, and their directories
  after: once the run directory is removed, they are the only copies. `atomic` does that for durable files.
- Caches, checkouts and reports are not: what a power cut takes is made again.
- Journals and the projection are not: they serve recovery from a killed process, whose writes the system still has. What
  a power cut may take of them lies in the temporary directory, whose contents a restart need not keep either.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import IO, Any

from blake3 import blake3

from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Identity
from outfitter.sparse import HOLES, ask_for_room, copy_data, is_sparse, sparse_digest

CHUNK = 1 << 20
# What is read whole of a file that somebody else wrote, "10 MB" in messages.
READ_LIMIT = 10 * 1024 * 1024
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EACCES)
NOT_REGULAR = "not a regular file"


def make_directories(path: str, home: str) -> None:
    """Make `path` and its missing parents, 0700 each; what exists is left as it is.

    A `home` that does not exist is not made (an unmounted or mistyped one must not fill up): `FileNotFoundError` names it.
    """
    missing: list[str] = []
    while not os.path.isdir(path):
        if path == home:
            raise FileNotFoundError(errno.ENOENT, "the home directory does not exist", path)
        missing.append(path)
        above = os.path.dirname(path)
        if above == path:
            break
        path = above
    for part in reversed(missing):
        try:
            os.mkdir(part, 0o700)
            give_to_owner_of(os.path.dirname(part), part)
        except FileExistsError:
            if not os.path.isdir(part):
                raise NotADirectoryError(errno.ENOTDIR, "not a directory", part) from None


def give_to_owner_of(directory: str | int, *new: str | int) -> None:
    """Give what root made in another user's directory to that user: what is in a home is its user's.

    Paths or open descriptors; the last part of a path is not followed. A file system without owners is left as it is.
    """
    if os.geteuid() != 0:
        return
    status = os.stat(directory)
    if status.st_uid == 0:
        return
    for made in new:
        with suppress(OSError):
            os.chown(made, status.st_uid, status.st_gid, follow_symlinks=isinstance(made, int))


def make_cache(path: str, cache: str) -> None:
    """Make `path` below the cache directory `cache`, and of what is above that only its parent."""
    make_directories(path, os.path.dirname(os.path.dirname(cache)))


def identity_of(status: os.stat_result) -> Identity:
    """Return what a later look at the file is compared with (spec/60)."""
    return Identity(status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def owner(path: str) -> int:
    """Return the user id that owns a path, symlinks not followed; -1 if nothing is there."""
    try:
        return os.lstat(path).st_uid
    except OSError:
        return -1


def make_accessible(path: str, directory: int | None = None) -> None:
    """Make an unreadable directory accessible to its owner, without following a symlink in its place.

    `directory`: an open directory that a relative path starts from. Raises `OSError`.
    """
    if sys.platform != "linux":
        os.chmod(path, stat.S_IRWXU, dir_fd=directory, follow_symlinks=False)
        return
    handle = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        # chmod refuses such a handle; by its name in /proc it reaches the very inode.
        os.chmod(f"/proc/self/fd/{handle}", stat.S_IRWXU)
    finally:
        os.close(handle)


def open_regular(
    path: str | bytes, *, follow: bool = False, directory: int | None = None
) -> tuple[int, os.stat_result]:
    """Open a regular file for reading; never wait for the writer of a fifo.

    `follow`: the last component may be a symlink. `directory`: an open directory that a relative path starts from. The caller closes the descriptor. Raises `OSError`; of errno `EINVAL` where the path is not a regular file.
    """
    try:
        descriptor = os.open(path, READ & ~os.O_NOFOLLOW if follow else READ, dir_fd=directory)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG or isinstance(path, bytes):
            raise
        descriptor = _open_deep(path)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, NOT_REGULAR, path)
    return descriptor, status


def _open_deep(path: str) -> int:
    """Open a file whose path is too long for one call, directory by directory, symlinks not followed."""
    *above, name = path.split("/")[1:]
    handle = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
            os.close(handle)
            handle = inner
        return os.open(name, READ, dir_fd=handle)
    finally:
        os.close(handle)


def read_regular(path: str | bytes, limit: int = READ_LIMIT, *, follow: bool = True) -> bytes:
    """Return the bytes of a regular file of `limit` bytes at most.

    Raises `OSError`: `EINVAL` where the path is not a regular file, `EFBIG` where it holds more, also if it grows meanwhile.
    """
    descriptor, status = open_regular(path, follow=follow)
    try:
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit >> 20} MB", path)
        # Files in /proc tell no size, so that only the end of file ends the reading.
        parts: list[bytes] = []
        left = limit + 1
        while left and (part := os.read(descriptor, min(left, CHUNK))):
            parts.append(part)
            left -= len(part)
        if not left:
            raise OSError(errno.EFBIG, f"larger than {limit >> 20} MB", path)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def digest_of(descriptor: int, size: int) -> bytes:
    """Return the BLAKE3 of the first `size` bytes: a file that grows for ever must not be read for ever.

    A file that is mostly holes has the digest of `outfitter.sparse` instead.
    """
    if size > HOLES and is_sparse(os.fstat(descriptor)):
        return sparse_digest(descriptor, size)
    hasher, offset = blake3(), 0
    while offset < size and (chunk := os.pread(descriptor, min(CHUNK, size - offset), offset)):
        hasher.update(chunk)
        offset += len(chunk)
    return hasher.digest()


def digest_file(path: str | bytes, *, follow: bool = True) -> bytes:
    """Return the BLAKE3 of a regular file of any size. Raises `OSError`."""
    descriptor, status = open_regular(path, follow=follow)
    try:
        return digest_of(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def copy_bytes(source: int, out: int, size: int) -> bytes:
    """Copy the first `size` bytes to an empty file, streamed; return their digest as `digest_of` does.

    Room is asked for first, and holes stay holes. Raises `OSError`.
    """
    status = os.fstat(source)
    ask_for_room(out, status)
    if size > HOLES and is_sparse(status):
        copy_data(source, out, size)
        return sparse_digest(source, size)
    hasher, offset = blake3(), 0
    while offset < size and (chunk := os.pread(source, min(CHUNK, size - offset), offset)):
        hasher.update(chunk)
        write_whole(out, chunk)
        offset += len(chunk)
    return hasher.digest()


def write_whole(descriptor: int, data: bytes) -> None:
    """Write every byte, however many writes that takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def temporary_name() -> str:
    """Return a new name for a temporary in a directory of the user's.

    `AtomicFile.tidy` knows it by its form. It is never built from the target's name, which may already fill all 255 bytes.
    """
    return f".outfitter-{os.urandom(6).hex()}.tmp"


def is_temporary(name: str) -> bool:
    """Whether a name is one that `temporary_name` returns."""
    middle = name.removeprefix(".outfitter-").removesuffix(".tmp")
    return len(name) - len(middle) == 15 and len(middle) == 12 and not middle.strip("0123456789abcdef")


def write_atomic(
    path: str,
    data: bytes | Iterable[bytes],
    *,
    mode: int = 0o600,
    exact_mode: bool = False,
    exclusive: bool = False,
    sync: Callable[[int], None] | None = None,
    directory: int | None = None,
    temporary: str = "",
) -> None:
    """Give `path` these bytes at once: a reader sees the old file or the whole new one. Raises `OSError`.

    `mode` is narrowed by the umask unless it is exact. `exclusive`: `FileExistsError` where anything is at the path. `sync` is called with the
    descriptor after the last byte. `directory` is an open one that `path` is relative to. `temporary` is a name beside the
    target for a caller who tidies up by that name; what a killed process left there is overwritten.
    """
    name = os.path.join(os.path.dirname(path), temporary or f".{os.urandom(6).hex()}.tmp")
    flags = NEW & ~os.O_EXCL | os.O_TRUNC if temporary else NEW
    descriptor = os.open(name, flags, mode, dir_fd=directory)
    try:
        try:
            if exact_mode:
                os.fchmod(descriptor, mode)
            give_to_owner_of(_directory_of(path, directory), descriptor)
            for part in (data,) if isinstance(data, bytes) else data:
                write_whole(descriptor, part)
            if sync:
                sync(descriptor)
        finally:
            os.close(descriptor)
        if exclusive:
            _claim(name, path, directory)
        else:
            os.replace(name, path, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=directory)
        raise


def _directory_of(path: str, directory: int | None) -> str | int:
    return directory if directory is not None else os.path.dirname(path) or "."


def _claim(name: str, path: str, directory: int | None) -> None:
    """Rename to a name that must not exist; without hard links, an empty file claims the name first."""
    try:
        os.link(name, path, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        os.unlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno not in NO_HARD_LINKS:
            raise
        os.close(os.open(path, NEW, 0o600, dir_fd=directory))
        os.replace(name, path, src_dir_fd=directory, dst_dir_fd=directory)


def create(path: str) -> IO[bytes]:
    """Return a new file, open for writing. Raises `FileExistsError` where anything is at the path."""
    descriptor = os.open(path, NEW, 0o600)
    give_to_owner_of(os.path.dirname(path) or ".", descriptor)
    return os.fdopen(descriptor, "wb")


def flush(file: IO[bytes]) -> None:
    """Make everything written so far reach the disk."""
    file.flush()
    os.fsync(file.fileno())


def flush_directory(path: str) -> None:
    """Make the names in a directory reach the disk."""
    descriptor = os.open(path or "/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put_json(path: str, value: dict[str, Any]) -> None:
    """Write a new file that holds one JSON document, its keys sorted, and flush it."""
    with create(path) as file:
        file.write(_json(value, sort_keys=True))
        flush(file)


def replace_json(path: str, value: dict[str, Any], *, sort_keys: bool = False) -> None:
    """Replace a JSON file atomically and flush it; keys keep their order unless sorted."""
    write_atomic(path, _json(value, sort_keys=sort_keys), sync=os.fsync)


def _json(value: dict[str, Any], *, sort_keys: bool) -> bytes:
    return json.dumps(value, indent=1, sort_keys=sort_keys).encode() + b"\n"


DOCUMENT_LIMIT = 256 << 20


def read_document(path: str) -> tuple[Any, str]:
    """Read a JSON file of ours: (value, "") or (None, why not): `missing` or the reader's words."""
    try:
        data = read_regular(path, DOCUMENT_LIMIT, follow=False)
        # A name given twice is read in two ways by different readers: no such file is ours.
        return json.loads(data, object_pairs_hook=_no_repeats), ""
    except FileNotFoundError:
        return None, "missing"
    except OSError as error:
        return None, os_error_text(error)
    except RecursionError:
        return None, "nested too deeply"
    except UnicodeError:
        return None, "not UTF-8 text"
    except ValueError as error:
        return None, str(error)


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name is given twice in one object")
    return value
