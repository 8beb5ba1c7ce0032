"""The use cases that a member has, put together by `app`."""

from __future__ import annotations

from dataclasses import dataclass

from mycel.services.activity import Activity
from mycel.services.archive import Moving
from mycel.services.artifacts import ArtifactRegistry
from mycel.services.briefing import Briefings
from mycel.services.candidates import Candidates
from mycel.services.capture import Capture
from mycel.services.cascades import Cascading
from mycel.services.catalogue import Catalogue
from mycel.services.change_feed import Changes, Following
from mycel.services.consolidation import Consolidating
from mycel.services.context import Context
from mycel.services.episodes import Episodes
from mycel.services.explain import Explaining
from mycel.services.files import Files
from mycel.services.foreign_records import ForeignRecords
from mycel.services.import_markdown import Importing
from mycel.services.knowledge import Knowledge as KnowledgeService
from mycel.services.lessons import Teaching
from mycel.services.policies import Policies
from mycel.services.read import Reading
from mycel.services.relate import Relating
from mycel.services.review import Reviewing
from mycel.services.search import Searching
from mycel.services.similar import Comparing
from mycel.services.tasks import Tasks
from mycel.services.undo_writer import UndoingWriters
from mycel.services.write import Writing


@dataclass(frozen=True, slots=True)
class MemberServices:
    """The use cases a member has."""

    writing: Writing
    relating: Relating
    reading: Reading
    searching: Searching
    explaining: Explaining
    context: Context
    catalogue: Catalogue
    changes: Changes
    following: Following
    capture: Capture
    tasks: Tasks
    files: Files
    episodes: Episodes
    briefings: Briefings
    reviewing: Reviewing
    candidates: Candidates
    writers: UndoingWriters
    consolidating: Consolidating
    teaching: Teaching
    cascading: Cascading
    policies: Policies
    knowledge: KnowledgeService
    importing: Importing
    foreign: ForeignRecords
    artifacts: ArtifactRegistry
    moving: Moving
    comparing: Comparing
    activity: Activity
