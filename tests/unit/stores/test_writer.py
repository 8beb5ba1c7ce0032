from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from mycel.stores.sql.writer import Writer


class Batch:
    def begin(self) -> None: ...
    def keep(self) -> None: ...
    def undo(self, error: Exception) -> None: ...


@pytest.mark.parametrize(("beside", "waits"), [(False, True), (True, False)])
def test_a_commit_waits_for_who_wrote_a_moment_ago_but_not_for_what_is_done_beside(
    *, beside: bool, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[int] = []

    def linger(_writer: object, expected: int) -> None:
        waited.append(expected)

    monkeypatch.setattr(Writer, "_linger", linger)

    def transact(work: Callable[[Batch], None]) -> None:
        work(Batch())

    writer: Writer[Batch] = Writer(transact, fault=lambda error: error)
    with ThreadPoolExecutor(1) as other:
        other.submit(writer.run, Batch.keep, beside=beside).result()
    writer.run(Batch.keep)
    assert bool(waited) is waits
    writer.close()
