"""One write transaction on a team's store: what services may do between BEGIN and COMMIT."""

from __future__ import annotations

from mycel.contracts.clock import Clock
from mycel.domain.ids import TeamName
from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.queue import PostgresQueueWriter
from mycel.stores.postgres.session import WriteSession
from mycel.stores.sql.activity import ActivityWriter
from mycel.stores.sql.approaches import ApproachWriter
from mycel.stores.sql.archive import ArchiveWriter
from mycel.stores.sql.artifacts import ArtifactWriter
from mycel.stores.sql.cascades import CascadeWriter
from mycel.stores.sql.embeddings import EmbeddingWriter
from mycel.stores.sql.episode_rates import RateWriter
from mycel.stores.sql.episodes import EpisodeWriter
from mycel.stores.sql.links import LinkWriter
from mycel.stores.sql.memory_writes import MemoryWriter
from mycel.stores.sql.places import PlaceWriter
from mycel.stores.sql.recalls import RecallWriter
from mycel.stores.sql.reports import ReportWriter
from mycel.stores.sql.requests import SqlRequests
from mycel.stores.sql.reviews import ReviewWriter
from mycel.stores.sql.sources import SourceWriter


class PostgresTransaction(WriteSession):
    """See `contracts.store.Transaction`."""

    def __init__(
        self, connection: PostgresConnection, *, team: TeamName, clock: Clock, locks_first: bool = True
    ) -> None:
        super().__init__(connection, team=team, clock=clock, locks_first=locks_first)
        self.memories = MemoryWriter(self)
        self.links = LinkWriter(self)
        self.places = PlaceWriter(self)
        self.requests = SqlRequests(self)
        self.sources = SourceWriter(self)
        self.queue = PostgresQueueWriter(self)
        self.reports = ReportWriter(self)
        self.reviews = ReviewWriter(self)
        self.cascades = CascadeWriter(self)
        self.episodes = EpisodeWriter(self)
        self.rates = RateWriter(self)
        self.approaches = ApproachWriter(self)
        self.artifacts = ArtifactWriter(self)
        self.embeddings = EmbeddingWriter(self)
        self.recalls = RecallWriter(self)
        self.archive = ArchiveWriter(self)
        self.activity = ActivityWriter(self)
