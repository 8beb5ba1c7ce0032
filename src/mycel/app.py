"""The composition root: the one place that chooses implementations and puts them together."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from mycel.contracts.clock import Clock, SystemClock
from mycel.contracts.embedder import Embedder
from mycel.contracts.language_model import LanguageModel
from mycel.domain.embedding import EmbeddingProgress
from mycel.domain.ids import TeamName
from mycel.domain.search_request import RankingOptions
from mycel.domain.source import Step
from mycel.embedded.team_memory import MemberServices
from mycel.embedded.workspace import Workspace, WorkspaceServices
from mycel.engine.workshop.workshop import MovableWorkshop
from mycel.errors import MycelError
from mycel.providers.embeddings.registry import BUILTIN, NONE, EmbeddingOptions, make_embedder
from mycel.providers.llms.registry import LanguageModelOptions, make_language_model
from mycel.services.approach_groups import Grouping
from mycel.services.archive import Moving
from mycel.services.artifact_files import WorkspaceFiles
from mycel.services.artifacts import ArtifactRegistry
from mycel.services.briefing import Briefings
from mycel.services.callers import Callers
from mycel.services.capture import Capture
from mycel.services.cascades import Cascading
from mycel.services.catalogue import Catalogue
from mycel.services.change_feed import Following
from mycel.services.changes import Changes
from mycel.services.consolidation import Consolidating
from mycel.services.context import Context
from mycel.services.embeddings import Embedding
from mycel.services.episode_pruning import Pruning
from mycel.services.episodes import Episodes
from mycel.services.explain import Explaining
from mycel.services.files import Files, MemoryFolders
from mycel.services.import_markdown import Importing
from mycel.services.knowledge import Knowledge
from mycel.services.lessons import Teaching
from mycel.services.maintenance import Maintaining
from mycel.services.organisation import Organisation
from mycel.services.policies import Policies
from mycel.services.process_source import Digesting
from mycel.services.queue_worker import Performer, Working
from mycel.services.read import Reading
from mycel.services.relate import Relating
from mycel.services.review import Reviewing
from mycel.services.scheduler import Engine
from mycel.services.search import Searching
from mycel.services.second_person import SecondPerson
from mycel.services.tasks import Tasks
from mycel.services.tokens import Tokens
from mycel.services.upkeep import Upkeep
from mycel.services.write import Writing
from mycel.settings import FILE_NAME, Settings, load_settings, write_setting
from mycel.stores.layout import TEAMS_FOLDER, WORKSPACE_FILE
from mycel.stores.sqlite.checks import CHECK_AFTER_SECONDS
from mycel.stores.sqlite.connection import check_sqlite_version
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.directory import SqliteDirectory
from mycel.stores.sqlite.pool import SqliteStores
from mycel.wire.daemon_file import SERVICE_FILES

if TYPE_CHECKING:
    from mycel.providers.embeddings.description import Description
    from mycel.providers.embeddings.examine import Examination


def open_workspace(
    data: str | Path | None = None,
    *,
    clock: Clock | None = None,
    disk: Disk | None = None,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    language_model: LanguageModel | None = None,
) -> Workspace:
    """A workspace on the files of a data directory, made if it is not there.

    Tests and embedding programs may bring models of their own; otherwise the settings name them.
    """
    check_sqlite_version()
    chosen = settings or load_settings(data)
    time, files = clock or SystemClock(), disk or Disk()
    teams = chosen.data / TEAMS_FOLDER
    directory = SqliteDirectory(chosen.data / WORKSPACE_FILE, clock=time, disk=files, teams=teams)
    stores = SqliteStores(
        teams,
        clock=time,
        disk=files,
        limit=chosen.max_open_stores,
        made=directory,
        check_after=CHECK_AFTER_SECONDS,
    )

    embedding = Embedding(stores, embedder or make_embedder(_embedding_options(chosen)))
    model = language_model or make_language_model(_language_model_options(chosen))
    policies = Policies(directory)
    workshop = MovableWorkshop()
    performers: dict[Step, Performer] = {}
    working = Working(stores, time, performers, lease=timedelta(seconds=chosen.lease_seconds))
    engine = Engine(stores, time, policies, working)
    following = Following(stores)

    callers = Callers(directory, time)

    def close() -> None:
        callers.close()
        # Whoever waits for the child is told so by its end, and gives its work back.
        working.stop()
        workshop.close()
        following.close()
        engine.close()
        embedding.close()
        if model is not None:
            model.close()
        stores.close()
        directory.close()

    grouping = Grouping(embedding)
    searching = Searching(stores, time, embedding, options=_ranking_options(chosen))
    second_person = SecondPerson(directory)
    writing = Writing(stores, policies, second_person, max_content=chosen.max_content_bytes)
    reading = Reading(stores, time, searching.freshness)
    artifacts = ArtifactRegistry(
        stores,
        time,
        directory,
        policies,
        searching=searching,
        writing=writing,
        files=_workspace_files(chosen),
        max_content=chosen.max_content_bytes,
    )
    episodes = Episodes(stores, time, policies, searching, grouping, max_content=chosen.max_content_bytes)
    reviewing = Reviewing(stores, time, policies, second_person, searching.freshness)
    member = MemberServices(
        writing=writing,
        relating=Relating(stores),
        reading=reading,
        searching=searching,
        explaining=Explaining(searching),
        context=Context(searching, stores, time, author_share=chosen.author_share),
        catalogue=Catalogue(stores, time, policies),
        changes=Changes(stores),
        following=following,
        capture=Capture(
            stores, time, policies, wake=engine.wake, quiet=timedelta(seconds=chosen.session_quiet_seconds)
        ),
        tasks=Tasks(stores, time, policies, artifacts, wake=engine.wake, max_content=chosen.max_content_bytes),
        files=Files(stores, time, directory, policies, wake=engine.wake, folders=_memory_folders(chosen)),
        episodes=episodes,
        briefings=Briefings(searching, episodes, artifacts, reviewing),
        reviewing=reviewing,
        consolidating=Consolidating(stores, time, policies, embedding, workshop=workshop),
        teaching=Teaching(stores, directory, policies, max_content=chosen.max_content_bytes),
        cascading=Cascading(stores, directory, wake=engine.wake),
        policies=policies,
        knowledge=Knowledge(stores, writing, reading, searching, second_person),
        importing=Importing(stores, time, policies, writing),
        artifacts=artifacts,
        moving=Moving(stores, time, policies, writing),
    )
    digesting = Digesting(directory, policies, workshop=workshop, model=model)
    performers |= {
        Step.SUMMARIZE: digesting,
        Step.EXTRACT: digesting,
        Step.INDEX: member.files,
        Step.CONSOLIDATE: member.consolidating,
        Step.MAINTAIN: Maintaining(time, policies, Pruning(grouping)),
        Step.DELIVER: member.cascading,
    }
    try:
        organisation = Organisation(directory)
        organisation.prepare()
        services = WorkspaceServices(
            organisation=organisation,
            tokens=Tokens(directory),
            callers=callers,
            upkeep=Upkeep(stores, directory, time, embedding, grouping, engine, workshop),
            member=member,
        )
        return Workspace(services, close=close)
    except MycelError:
        close()
        raise


def describe_embedders(settings: Settings) -> list[Description]:
    """Those that need nothing, and between them the one of the settings if that is another."""
    from mycel.providers.embeddings.description import describe

    names = dict.fromkeys((BUILTIN, settings.embedder, NONE))
    return [describe(_embedding_options(replace(settings, embedder=name))) for name in names]


def examine_embedder(settings: Settings) -> Examination:
    from mycel.providers.embeddings.examine import examine

    return examine(_embedding_options(settings))


def use_embedder(settings: Settings) -> tuple[Path, dict[TeamName, EmbeddingProgress]]:
    """Writes the embedder of these settings into the file; returns that and what each team has to embed for it."""
    # Opened first: an embedder with which no command would run any more must not come into the file.
    with open_workspace(settings=settings) as workspace:
        progress = {team.name: workspace.embedding_progress(team.name) for team in workspace.teams()}
    return write_setting("embedder", settings.embedder, data=settings.data), progress


def _embedding_options(settings: Settings) -> EmbeddingOptions:
    return EmbeddingOptions(
        embedder=settings.embedder,
        model=settings.embedding_model,
        dimensions=settings.embedding_dimensions,
        url=settings.embedding_url,
        key=settings.embedding_key,
    )


def _language_model_options(settings: Settings) -> LanguageModelOptions:
    return LanguageModelOptions(llm=settings.llm, model=settings.llm_model, url=settings.llm_url, key=settings.llm_key)


def _memory_folders(settings: Settings) -> MemoryFolders:
    return MemoryFolders(personal=settings.personal_memory_folder, shared=settings.shared_memory_folder)


def _workspace_files(settings: Settings) -> WorkspaceFiles:
    """Where nobody has named folders, the one this program runs in; never the files of the workspace itself."""
    try:
        roots = (Path.cwd(),) if settings.artifact_roots is None else settings.artifact_roots
    except FileNotFoundError:
        roots = ()
    database = settings.data / WORKSPACE_FILE
    own = [settings.data / name for name in (TEAMS_FOLDER, FILE_NAME, *SERVICE_FILES)]
    own += [database.with_name(database.name + end) for end in ("", "-wal", "-shm", "-journal")]
    return WorkspaceFiles(roots, off_limits=own)


def _ranking_options(settings: Settings) -> RankingOptions:
    return RankingOptions(
        half_life_days=settings.recency_half_life_days,
        access_boost_max=settings.access_boost_max,
        access_recency_hours=settings.access_recency_hours,
        candidate_multiplier=settings.candidate_multiplier,
        author_share=settings.author_share,
    )
