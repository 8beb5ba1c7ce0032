"""A process that does the engine's work and kills itself at a given moment of a given step."""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mycel.services.consolidation as consolidating
from mycel import app
from mycel.app import open_workspace
from mycel.engine import extract_and_summarize as engine_step
from mycel.settings import Settings, load_settings
from mycel.stores.sql.embeddings import EmbeddingWriter
from mycel.stores.sql.queue import QueueWriter
from mycel.stores.sql.sources import SourceWriter
from mycel.testing.embedder import WordEmbedder

LEASE_SECONDS = 0.3


def settings(data: Path) -> Settings:
    return replace(load_settings(data, embedder="none"), lease_seconds=LEASE_SECONDS)


def embedder() -> WordEmbedder:
    return WordEmbedder(dimensions=256)


def dying(call: Callable[..., Any], *, countdown: int, after: bool = False) -> Callable[..., Any]:
    """The call, but the given one kills the process, right before it or right after it."""
    left = [countdown]

    def die(*given: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] == 0 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = call(*given, **named)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    return die


def arm(moment: str, countdown: int) -> None:
    """`extract` and `embed` die while computing, the others in the middle of the transaction or right after it."""
    if moment == "extract":
        engine_step.extract_and_summarize = dying(engine_step.extract_and_summarize, countdown=countdown, after=True)  # type: ignore[assignment]
    elif moment == "extracted":
        SourceWriter.set_extracted = dying(SourceWriter.set_extracted, countdown=countdown, after=True)  # type: ignore[method-assign]
    elif moment == "settled":
        QueueWriter.replace = dying(QueueWriter.replace, countdown=countdown, after=True)  # type: ignore[method-assign]
    elif moment == "embed":
        WordEmbedder.embed_documents = dying(WordEmbedder.embed_documents, countdown=countdown, after=True)  # type: ignore[method-assign]
    elif moment == "embedded":
        EmbeddingWriter.put = dying(EmbeddingWriter.put, countdown=countdown, after=True)  # type: ignore[method-assign]
    elif moment == "consolidate":
        consolidating.plan_consolidation = dying(consolidating.plan_consolidation, countdown=countdown, after=True)  # type: ignore[assignment]
    elif moment == "consolidated":
        consolidating.carry_out = dying(consolidating.carry_out, countdown=countdown, after=True)  # type: ignore[assignment]


def main(data: str, moment: str, countdown: str) -> None:
    # As in the process that it is compared with.
    app._judge = lambda: None  # pyright: ignore[reportPrivateUsage]
    arm(moment, int(countdown))
    with open_workspace(settings=settings(Path(data)), embedder=embedder()) as workspace:
        workspace.run_pending()


if __name__ == "__main__":
    main(*sys.argv[1:])
