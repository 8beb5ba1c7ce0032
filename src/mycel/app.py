"""The composition root: the one place that chooses implementations and puts them together."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from mycel.contracts.clock import Clock, SystemClock
from mycel.contracts.directory import Directory
from mycel.contracts.embedder import Embedder
from mycel.contracts.judge import Judge
from mycel.contracts.language_model import LanguageModel
from mycel.contracts.store import Stores
from mycel.domain.embedding import EmbeddingProgress
from mycel.domain.ids import TeamName
from mycel.domain.search_request import Ranking, RankingOptions
from mycel.domain.source import Step
from mycel.embedded.member_services import MemberServices
from mycel.embedded.workspace import Workspace, WorkspaceServices
from mycel.engine.executor import Executor, MovableExecutor
from mycel.errors import Misconfigured, MycelError
from mycel.providers.embeddings.registry import BUILTIN, NONE, EmbeddingOptions, make_embedder
from mycel.providers.llms.registry import LanguageModelOptions, make_language_model
from mycel.services.activity import Activity
from mycel.services.approach_groups import Grouping
from mycel.services.archive import Moving
from mycel.services.artifact_files import WorkspaceFiles
from mycel.services.artifacts import ArtifactRegistry
from mycel.services.backups import Backups
from mycel.services.briefing import Briefings
from mycel.services.callers import Callers
from mycel.services.candidates import Candidates
from mycel.services.capture import Capture
from mycel.services.cascades import Cascading
from mycel.services.catalogue import Catalogue
from mycel.services.change_feed import Changes, Following
from mycel.services.consolidation import Consolidating
from mycel.services.context import Context
from mycel.services.embeddings import Embedding
from mycel.services.episode_pruning import Pruning
from mycel.services.episodes import Episodes
from mycel.services.explain import Explaining
from mycel.services.files import Files, MemoryFolders
from mycel.services.foreign_records import ForeignRecords
from mycel.services.import_markdown import Importing
from mycel.services.knowledge import Knowledge
from mycel.services.lessons import Teaching
from mycel.services.maintenance import Maintaining
from mycel.services.organisation import Organisation
from mycel.services.policies import Policies
from mycel.services.process_source import SourceProcessor
from mycel.services.queue_worker import Performer, Working
from mycel.services.read import Reading
from mycel.services.relate import Relating
from mycel.services.reversals import Reversals
from mycel.services.review import Reviewing
from mycel.services.scheduler import Engine
from mycel.services.search import Searching
from mycel.services.second_person import SecondPerson
from mycel.services.sign_in_links import SignInLinks
from mycel.services.similar import Comparing
from mycel.services.tasks import Tasks
from mycel.services.tokens import Tokens
from mycel.services.transfer import Side
from mycel.services.undo_writer import UndoingWriters
from mycel.services.upkeep import Upkeep
from mycel.services.words import Words
from mycel.services.write import Writing
from mycel.settings import FILE_NAME, Settings, environment_of_commands, load_settings, write_setting
from mycel.storage import backups_of, open_stores
from mycel.stores.layout import own_files
from mycel.stores.sqlite.database import Disk
from mycel.wire.daemon_file import SERVICE_FILES

if TYPE_CHECKING:
    from mycel.providers.embeddings.examine import Examination
    from mycel.providers.embeddings.registry import Description


def open_workspace(
    data: str | Path | None = None,
    *,
    clock: Clock | None = None,
    disk: Disk | None = None,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    language_model: LanguageModel | None = None,
) -> Workspace:
    """A workspace on the files of a data directory, made if it is not there, or on a Postgres database by its address.

    Tests and embedding programs may bring models of their own; otherwise the settings name them.
    """
    settings = settings or load_settings(data)
    ground = _lay_ground(
        settings,
        clock=clock or SystemClock(),
        disk=disk or Disk(),
        embedder=embedder,
        language_model=language_model,
    )
    try:
        member = _member_services(ground)
        ground.performers.update(_performers(ground, member))
        organisation = Organisation(ground.directory)
        organisation.prepare()
        upkeep = Upkeep(
            *(ground.stores, ground.directory, ground.clock, ground.embedding, ground.words, ground.grouping),
            *(ground.engine, ground.executor, ground.backups),
        )
        services = WorkspaceServices(
            organisation=organisation,
            tokens=Tokens(ground.directory),
            links=SignInLinks(ground.directory, ground.clock),
            callers=ground.callers,
            upkeep=upkeep,
            backups=ground.backups,
            member=member,
        )
        release = _claim_model(settings, ground.embedding.embedder)
    except MycelError:
        ground.close()
        raise

    def close() -> None:
        try:
            ground.close()
        finally:
            release()

    return Workspace(services, close=close)


def open_for_program(data: str | Path | None, embedder: object) -> Workspace:
    """With the embedder that a program names, as the setting does, or brings as an object."""
    if embedder is None or isinstance(embedder, str):
        return open_workspace(settings=load_settings(data, embedder=embedder))
    from mycel.providers.embeddings.provided import ProvidedEmbedder

    return open_workspace(data, embedder=ProvidedEmbedder(embedder))


# By process and workspace, the models with which it is open.
_models: dict[tuple[int, str], dict[object, str]] = {}
_models_lock = threading.Lock()


def _claim_model(settings: Settings, embedder: Embedder | None) -> Callable[[], None]:
    """Refuse a second model in one process: each would replace the vectors of the other without end."""
    if embedder is None:
        return lambda: None
    place = (os.getpid(), settings.database_url or str(settings.data.resolve()))
    with _models_lock:
        models, opening = _models.setdefault(place, {}), object()
        other = next((model for model in models.values() if model != embedder.model), None)
        if other is not None:
            raise Misconfigured(
                f"this process has the workspace open with the embedder {other}, and {embedder.model} would replace "
                "its vectors: close that one first, or open both with the same embedder"
            )
        models[opening] = embedder.model

    def release() -> None:
        with _models_lock:
            models.pop(opening, None)
            if not models:
                _models.pop(place, None)

    return release


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What the services of one workspace share."""

    settings: Settings
    clock: Clock
    directory: Directory
    stores: Stores
    embedding: Embedding
    words: Words
    model: LanguageModel | None
    policies: Policies
    executor: MovableExecutor
    # Filled in when there are services to perform a step: some of them wake the engine, which runs the worker.
    performers: dict[Step, Performer]
    working: Working
    engine: Engine
    following: Following
    callers: Callers
    grouping: Grouping
    second_person: SecondPerson
    reversals: Reversals
    backups: Backups

    def close(self) -> None:
        self.callers.close()
        self.backups.close()
        # Whoever waits for the child or a model is told so by its end, and gives its work back.
        self.working.stop()
        self.executor.close()
        if self.model is not None:
            self.model.close()
        self.following.close()
        self.engine.close()
        self.embedding.close()
        self.words.close()
        self.stores.close()
        self.directory.close()


def _lay_ground(
    settings: Settings,
    *,
    clock: Clock,
    disk: Disk,
    embedder: Embedder | None,
    language_model: LanguageModel | None,
) -> _Ground:
    # First what the settings may have wrong, so that nothing is open yet.
    embedder = embedder or make_embedder(_embedding_options(settings))
    model = language_model or language_model_of(settings)
    directory, stores = open_stores(settings, clock=clock, disk=disk)
    embedding = Embedding(stores, embedder)
    policies, reversals = Policies(directory), Reversals(directory)
    performers: dict[Step, Performer] = {}
    working = Working(stores, clock, performers, lease=timedelta(seconds=settings.lease_seconds))
    return _Ground(
        settings=settings,
        clock=clock,
        directory=directory,
        stores=stores,
        embedding=embedding,
        words=Words(stores),
        model=model,
        policies=policies,
        executor=MovableExecutor(_process_executor, judge=_judge),
        performers=performers,
        working=working,
        engine=Engine(stores, clock, policies, working),
        following=Following(stores),
        callers=Callers(directory, clock),
        grouping=Grouping(embedding),
        second_person=SecondPerson(directory, policies, reversals),
        reversals=reversals,
        backups=backups_of(settings, Side(directory, stores), clock, disk),
    )


def _judge() -> Judge | None:
    from mycel.providers.judge.shipped import builtin_judge

    return builtin_judge()


def _process_executor() -> Executor:
    from mycel.engine.executor_process import ProcessExecutor

    return ProcessExecutor("mycel.providers.judge.engine_child")


def _member_services(ground: _Ground) -> MemberServices:
    settings, stores, clock, policies = ground.settings, ground.stores, ground.clock, ground.policies
    directory, wake, most = ground.directory, ground.engine.wake, settings.max_content_bytes
    searching = Searching(stores, clock, ground.embedding, ground.words, options=_ranking_options(settings))
    writing = Writing(stores, policies, ground.second_person, ground.reversals, max_content=most)
    reading = Reading(stores, clock, searching.freshness, ground.embedding)
    files = _workspace_files(settings)
    artifacts = ArtifactRegistry(
        stores, clock, directory, policies, searching=searching, writing=writing, files=files, max_content=most
    )
    episodes = Episodes(stores, clock, policies, searching, ground.grouping, max_content=most)
    reviewing = Reviewing(stores, clock, policies, ground.second_person, searching.freshness)
    comparing = Comparing(stores, clock, ground.embedding, executor=ground.executor)
    quiet = timedelta(seconds=settings.session_quiet_seconds)
    activity = Activity(stores, directory, clock)
    folders = MemoryFolders(personal=settings.personal_memory_folder, shared=settings.shared_memory_folder)
    return MemberServices(
        writing=writing,
        relating=Relating(stores, ground.reversals),
        reading=reading,
        searching=searching,
        explaining=Explaining(searching, stores),
        context=Context(searching, stores, clock, author_share=settings.author_share),
        catalogue=Catalogue(stores, clock, policies),
        changes=Changes(stores),
        following=ground.following,
        capture=Capture(stores, clock, policies, wake=wake, quiet=quiet),
        tasks=Tasks(stores, clock, policies, artifacts, wake=wake, max_content=most),
        files=Files(stores, clock, directory, policies, wake=wake, folders=folders),
        episodes=episodes,
        briefings=Briefings(searching, episodes, artifacts, reviewing, activity),
        reviewing=reviewing,
        candidates=Candidates(stores, clock, reviewing, comparing, ground.second_person, ground.reversals),
        writers=UndoingWriters(stores, clock, ground.reversals),
        consolidating=Consolidating(
            *(stores, clock, policies, ground.embedding, ground.reversals),
            executor=ground.executor,
            model=ground.model,
        ),
        teaching=Teaching(stores, directory, policies, max_content=most),
        cascading=Cascading(stores, directory, wake=wake),
        policies=policies,
        knowledge=Knowledge(stores, writing, reading, searching, ground.second_person),
        importing=Importing(stores, clock, policies, writing),
        foreign=ForeignRecords(stores, clock, policies, writing, wake=wake),
        artifacts=artifacts,
        moving=Moving(stores, clock, policies, writing),
        comparing=comparing,
        activity=activity,
    )


def _performers(ground: _Ground, member: MemberServices) -> dict[Step, Performer]:
    processor = SourceProcessor(ground.directory, ground.policies, executor=ground.executor, model=ground.model)
    return {
        Step.SUMMARIZE: processor,
        Step.EXTRACT: processor,
        Step.INDEX: member.files,
        Step.CONSOLIDATE: member.consolidating,
        Step.MAINTAIN: Maintaining(ground.clock, ground.policies, Pruning(ground.grouping)),
        Step.DELIVER: member.cascading,
    }


def describe_embedders(settings: Settings) -> list[Description]:
    """Those that need nothing, and between them the one of the settings if that is another."""
    from mycel.providers.embeddings.registry import describe

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


def language_model_of(settings: Settings) -> LanguageModel | None:
    """`Misconfigured` where the settings cannot work; it is not asked anything yet."""
    options = LanguageModelOptions(
        llm=settings.llm,
        model=settings.llm_model,
        url=settings.llm_url,
        key=settings.llm_key,
        command=settings.llm_command,
        seconds=settings.llm_seconds,
        environment=environment_of_commands,
    )
    return make_language_model(options)


def _workspace_files(settings: Settings) -> WorkspaceFiles:
    """Where nobody has named folders, the one this program runs in; never the files of the workspace itself."""
    try:
        roots = (Path.cwd(),) if settings.artifact_roots is None else settings.artifact_roots
    except FileNotFoundError:
        roots = ()
    backups = [] if settings.backup_folder is None else [settings.backup_folder]
    beside = [settings.data / name for name in (FILE_NAME, *SERVICE_FILES)]
    return WorkspaceFiles(roots, off_limits=[*own_files(settings.data), *beside, *backups])


def _ranking_options(settings: Settings) -> RankingOptions:
    return RankingOptions(
        ranking=Ranking(settings.ranking),
        half_life_days=settings.recency_half_life_days,
        access_boost_max=settings.access_boost_max,
        access_recency_hours=settings.access_recency_hours,
        candidate_multiplier=settings.candidate_multiplier,
        author_share=settings.author_share,
    )
