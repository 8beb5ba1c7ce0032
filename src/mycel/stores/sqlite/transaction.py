"""One write transaction on a team's store: what services may do between BEGIN and COMMIT."""

from __future__ import annotations

import apsw

from mycel.contracts.clock import Clock
from mycel.stores.sqlite.approaches import ApproachWriter
from mycel.stores.sqlite.archive import ArchiveWriter
from mycel.stores.sqlite.artifacts import ArtifactWriter
from mycel.stores.sqlite.cascades import CascadeWriter
from mycel.stores.sqlite.embeddings import EmbeddingWriter
from mycel.stores.sqlite.episode_rates import RateWriter
from mycel.stores.sqlite.episodes import EpisodeWriter
from mycel.stores.sqlite.links import LinkWriter
from mycel.stores.sqlite.memory_writes import MemoryWriter
from mycel.stores.sqlite.places import PlaceWriter
from mycel.stores.sqlite.queue import QueueWriter
from mycel.stores.sqlite.recalls import RecallWriter
from mycel.stores.sqlite.reports import ReportWriter
from mycel.stores.sqlite.requests import SqliteRequests
from mycel.stores.sqlite.session import WriteSession
from mycel.stores.sqlite.sources import SourceWriter


class SqliteTransaction(WriteSession):
    """See `contracts.store.Transaction`."""

    def __init__(self, connection: apsw.Connection, *, clock: Clock) -> None:
        super().__init__(connection, clock=clock)
        self.memories = MemoryWriter(self)
        self.links = LinkWriter(self)
        self.places = PlaceWriter(self)
        self.requests = SqliteRequests(self)
        self.sources = SourceWriter(self)
        self.queue = QueueWriter(self)
        self.reports = ReportWriter(self)
        self.cascades = CascadeWriter(self)
        self.episodes = EpisodeWriter(self)
        self.rates = RateWriter(self)
        self.approaches = ApproachWriter(self)
        self.artifacts = ArtifactWriter(self)
        self.embeddings = EmbeddingWriter(self)
        self.recalls = RecallWriter(self)
        self.archive = ArchiveWriter(self)
