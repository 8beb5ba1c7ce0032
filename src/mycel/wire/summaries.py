"""What an operation is about, in a line and in full: by what its method promises, or where that says nothing, here."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from mycel.wire.operations import Operation

_SUMMARIES: Mapping[str, str] = {
    "get": "One memory",
    "update": "The next version of a memory",
    "restore": "Brings a deleted memory back",
    "links": "What a memory is linked to, and what is linked to it",
    "link": "Links a memory to another, or to a project or repo",
    "unlink": "Takes a link away",
    "rate": "Says whether a memory was of use",
    "usage": "How often a memory was read",
    "tree": "The folders right below a path, and the memories in it",
    "recent": "The newest memories of the team",
    "stats": "Counts of what the caller may read",
    "fail_task": "A task that failed, and what went wrong",
    "reject_many": "Archives candidates; all of them, or none",
    "reports": "Runs of consolidation, newest first",
    "policy": "The policy of the team",
    "knowledge.search": "Finds values by words and by meaning",
    "knowledge.delete": "Deletes a value",
    "knowledge.history": "The versions of a value, oldest first",
    "episodes.get": "One episode",
    "artifacts.get": "One artifact",
    "sources.get": "One source, with its text",
    "sources.events": "The engine's work, newest first",
    "sources.event": "One piece of the engine's work",
    "projects.list": "The projects of the team",
    "projects.register": "Makes a project known, or says more about it",
    "repos.list": "The repos of the team",
    "repos.register": "Makes a repo known, with its folder and remote",
    "views.save": "Keeps a question and its filters under a name",
    "views.list": "The caller's saved views",
    "views.delete": "Forgets a saved view",
    "workspace.who_am_i": "Who the caller is, and in which team",
    "workspace.teams": "The teams that the caller sees",
    "workspace.members": "The members that the caller sees",
    "workspace.update_member": "Changes the team, role or trust of a member",
    "workspace.tokens": "Tokens, without their secrets",
    "workspace.embedding_progress": "How far the vectors of a team have come",
}
_TAGS: Mapping[str, str] = {
    "ingest": "memory",
    "reports": "consolidation",
    "consolidate": "consolidation",
    "learnings": "teaching",
    "profile": "teaching",
    "stats": "memory",
    "explain": "memory",
}


def summary_of(operation: Operation) -> str:
    return (_SUMMARIES.get(operation.name) or operation.summary).rstrip(".")


def description_of(operation: Operation) -> str:
    # A protocol inherits the texts of what Python itself has under some of these names.
    own = operation.function.__doc__
    return inspect.cleandoc(own) if own else ""


def tag_of(operation: Operation) -> str:
    part, _, _ = operation.name.rpartition(".")
    first = operation.path.split("/")[2]
    return part or _TAGS.get(first, first)
