"""The index of a team in one file, so that a team opened again need not be read from its store."""

from __future__ import annotations

import json
import os
import struct
import tempfile
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mycel.index.team_index import Arrays, Cursor, IndexImage, TeamIndex

MAGIC = b"mycelidx"
# Another layout of the file, or another meaning of what is in it, needs another number.
FORMAT = 3

# Magic, format, checksum of the header, length of the header.
_PRELUDE = struct.Struct("<8sIIQ")
# Of everything before it. It guards against a torn or rotten file, not against somebody: the file is the owner's.
_CHECKSUM = struct.Struct("<I")


class _Damaged(ValueError):
    """Not a whole file of this format."""


def save(index: TeamIndex, path: Path) -> None:
    """Replaces the file at once or not at all; raises OSError and leaves the old one when it cannot."""
    image = index.image()
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _write(file, image)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load(path: Path) -> TeamIndex | None:
    """The index as it was saved, or None: no file, a damaged one, or one of another format."""
    try:
        with path.open("rb") as file:
            return _read(file)
    except (OSError, ValueError, KeyError, TypeError, MemoryError):
        return None


def _write(file: BinaryIO, image: IndexImage) -> None:
    header = _header(image)
    prelude = _PRELUDE.pack(MAGIC, FORMAT, zlib.crc32(header), len(header))
    checksum = 0
    for part in (prelude, header, *map(_octets, image.arrays.values())):
        file.write(part)
        checksum = zlib.crc32(part, checksum)
    file.write(_CHECKSUM.pack(checksum))


def _header(image: IndexImage) -> bytes:
    described = {
        "model": image.model,
        "dimensions": image.dimensions,
        "cursor": image.cursor,
        "texts": image.texts,
        "arrays": [[name, array.dtype.str, array.shape] for name, array in image.arrays.items()],
    }
    return json.dumps(described).encode()


def _octets(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _read(file: BufferedReader) -> TeamIndex | None:
    prelude = _exactly(file, _PRELUDE.size)
    magic, version, header_checksum, header_length = _PRELUDE.unpack(prelude)
    size = os.fstat(file.fileno()).st_size
    if magic != MAGIC or version != FORMAT or header_length > size:
        return None
    header = _exactly(file, header_length)
    if zlib.crc32(header) != header_checksum:
        return None
    described = json.loads(header)
    empty = dict(_empty_arrays(described["arrays"]))
    if size != len(prelude) + header_length + sum(array.nbytes for array in empty.values()) + _CHECKSUM.size:
        return None
    _fill(empty, file=file, checksum=zlib.crc32(header, zlib.crc32(prelude)))
    return IndexImage(
        described["model"], described["dimensions"], Cursor(*described["cursor"]), described["texts"], empty
    ).restored()


def _empty_arrays(described: list[tuple[str, str, list[int]]]) -> Iterator[tuple[str, NDArray[Any]]]:
    for name, kind, shape in described:
        yield name, np.empty(shape, np.dtype(kind))


def _fill(arrays: Arrays, *, file: BufferedReader, checksum: int) -> None:
    for array in arrays.values():
        octets = _octets(array)
        if file.readinto(octets) != len(octets):
            raise _Damaged("the file ends early")
        checksum = zlib.crc32(octets, checksum)
    if _CHECKSUM.unpack(_exactly(file, _CHECKSUM.size)) != (checksum,):
        raise _Damaged("the checksum is that of another file")


def _exactly(file: BufferedReader, length: int) -> bytes:
    found = file.read(length)
    if len(found) != length:
        raise _Damaged("the file ends early")
    return found
