"""Ways to damage the files of a store, each a function of its path: what disks, tools and hands do to files."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import apsw

PAGE = 4096
Harm = Callable[[Path], None]


def beside(file: Path, ending: str) -> Path:
    return file.with_name(f"{file.name}{ending}")


def overwrite(file: Path, offset: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(offset)
        opened.write(content)


def pages_of(file: Path, name: str, kind: str) -> list[int]:
    connection = apsw.Connection(str(file))
    try:
        sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno"
        return [number for (number,) in connection.execute(sql, (name, kind))]
    finally:
        connection.close()


def root_of(file: Path, name: str) -> int:
    connection = apsw.Connection(str(file))
    try:
        return connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]
    finally:
        connection.close()


def zero_pages(file: Path, numbers: list[int]) -> None:
    assert numbers, "there is no such page to damage"
    for number in numbers:
        overwrite(file, (number - 1) * PAGE, bytes(PAGE))


def zero_root(name: str) -> Harm:
    return lambda file: zero_pages(file, [root_of(file, name)])


def zero_page(name: str, kind: str) -> Harm:
    def harm(file: Path) -> None:
        found = pages_of(file, name, kind)
        zero_pages(file, found[len(found) // 4 :][:1])

    return harm


def zero_six_pages(file: Path) -> None:
    zero_pages(file, pages_of(file, "memories", "leaf")[2:8])


def zero_header(file: Path) -> None:
    overwrite(file, 0, bytes(100))


def zero_freelist(file: Path) -> None:
    first = int.from_bytes(file.read_bytes()[32:36], "big")
    zero_pages(file, [first] if first else [])


def flip_bits(name: str) -> Harm:
    """In the structure of a page: in the middle of a text no database notices."""

    def harm(file: Path) -> None:
        page = pages_of(file, name, "leaf")[0]
        chance = Random(7)
        overwrite(file, (page - 1) * PAGE, bytes(chance.randrange(256) for _ in range(12)))

    return harm


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2 // PAGE * PAGE)


def tear_page(file: Path) -> None:
    os.truncate(file, file.stat().st_size - PAGE // 2)


def empty(file: Path) -> None:
    os.truncate(file, 0)


def unlink(file: Path) -> None:
    file.unlink()


def unlink_all(file: Path) -> None:
    for ending in ("-wal", "-shm", ""):
        beside(file, ending).unlink(missing_ok=True)


def rename(file: Path) -> None:
    file.rename(beside(file, ".old"))


def remove_folder(file: Path) -> None:
    shutil.rmtree(file.parent)


def write_rubbish(file: Path) -> None:
    file.write_bytes(Random(3).randbytes(64 * 1024))


def replace_with_rubbish(file: Path) -> None:
    rubbish = beside(file, ".new")
    write_rubbish(rubbish)
    rubbish.replace(file)


def unlink_log(file: Path) -> None:
    beside(file, "-wal").unlink()


def unlink_index(file: Path) -> None:
    beside(file, "-shm").unlink()


def empty_log(file: Path) -> None:
    os.truncate(beside(file, "-wal"), 0)


def cut_log(file: Path) -> None:
    log = beside(file, "-wal")
    os.truncate(log, log.stat().st_size // 2)


def frames_of(log: Path) -> Iterator[tuple[int, bool]]:
    """Where each frame of the log stands, and whether it ends a commit."""
    content = log.read_bytes()
    for place in range(32, len(content) - 24, 24 + PAGE):
        if content[place + 8 : place + 16] == content[16:24]:
            yield place, int.from_bytes(content[place + 4 : place + 8], "big") > 0


def flip_in_log(file: Path) -> None:
    """In the page of a frame that has many commits behind it."""
    log = beside(file, "-wal")
    places = [place for place, _ in frames_of(log)]
    overwrite(log, places[len(places) // 3] + 24 + 100, b"\xff\x00\xff\x00")


def zero_in_log(file: Path) -> None:
    log = beside(file, "-wal")
    places = [place for place, _ in frames_of(log)]
    overwrite(log, places[len(places) // 3], bytes(3 * PAGE))


def zero_log_header(file: Path) -> None:
    overwrite(beside(file, "-wal"), 0, bytes(32))


# Canonical pages: nothing makes these again.
PAGES: dict[str, Harm] = {
    "header": zero_header,
    "six pages": zero_six_pages,
    "root of the memories": zero_root("memories"),
    "leaf of the memories": zero_page("memories", "leaf"),
    "long text": zero_page("memories", "overflow"),
    "leaf of the log": zero_page("changes", "leaf"),
    "flipped bits": flip_bits("memories"),
    "flipped bits in the log": flip_bits("changes"),
    "schema": zero_page("sqlite_schema", "leaf"),
    "cut in half": truncate,
    "torn last page": tear_page,
    "rubbish": write_rubbish,
}
# What can be made again from the rest.
DERIVED: dict[str, Harm] = {
    "terms": zero_page("memory_terms", "leaf"),
    "root of the terms": zero_root("memory_terms"),
    "an index": zero_page("memories_by_author", "leaf"),
    "root of an index": zero_root("memories_by_path"),
    "tags": zero_root("memory_tags"),
    "vectors": zero_root("embeddings"),
    "freelist": zero_freelist,
}
FILES: dict[str, Harm] = {
    "emptied": empty,
    "unlinked": unlink,
    "unlinked with its log": unlink_all,
    "renamed": rename,
    "folder gone": remove_folder,
    "replaced by rubbish": replace_with_rubbish,
}
LOG: dict[str, Harm] = {
    "log unlinked": unlink_log,
    "index of the log unlinked": unlink_index,
    "log emptied": empty_log,
    "log cut": cut_log,
    "log flipped": flip_in_log,
    "log zeroed": zero_in_log,
    "log without header": zero_log_header,
}
