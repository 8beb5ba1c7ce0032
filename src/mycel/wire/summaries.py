"""What an operation is about, in a line and in full: by what its method promises, or where that says nothing, here."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from mycel.wire.operations import Operation

_SUMMARIES: Mapping[str, str] = {
    "get": "One memory",
    "list": "Memories in pages, newest first unless ordered otherwise",
    "save_many": "Stores up to 1000 memories; all of them, or none",
    "search": "Finds memories by words and by meaning, the best first",
    "history": "The versions of a memory, oldest first",
    "index_file": "Takes in a file, split on its headings; a later content makes new versions",
    "capture_conversation": "Keeps a conversation that was saved on purpose, and draws candidates from it when asked",
    "context_for": "What an agent should know before it starts a task",
    "before_task": "What an orchestrator should know before it hands out a task",
    "approve_many": "Makes candidates active; all of them, or none",
    "activity.members": "When each member of the team was last seen",
    "activity.report": "Keeps what an agent was given, as it saw it",
    "reviews.get": "One item of the inbox, with what stands near it",
    "reviews.claim": "Tells others for five minutes that the caller looks at a candidate",
    "reviews.snooze": "Puts a candidate off, for the caller alone",
    "reviews.merge": "A candidate gives way to a memory that says the same",
    "reviews.reopen": "Takes the last decision about a memory back",
    "reviews.undo_writer": "Takes back what a member did since a moment, and what came of it",
    "workspace.create_backup": "Makes a backup of all teams and members in the folder of the settings",
    "workspace.backups": "The backups in the folder of the settings, the newest first",
    "workspace.verify_backup": "Reads all of a backup, and names what is damaged",
    "explain": "Why a search found what it found, or what is known about a memory",
    "update": "The next version of a memory",
    "restore": "Brings a deleted memory back",
    "links": "What a memory is linked to, and what is linked to it",
    "link": "Links a memory to another, or to a project or repo",
    "unlink": "Takes a link away",
    "rate": "Says whether a memory was of use",
    "usage": "How often a memory was read",
    "tree": "The folders right below a path, and the memories in it",
    "recent": "The newest memories that the caller may read",
    "stats": "Counts of what the caller may read",
    "fail_task": "A task that failed, and what went wrong",
    "reject_many": "Archives candidates; all of them, or none",
    "reports": "Runs of consolidation, newest first",
    "policy": "The policy of the team",
    "upsert_profile_fact": "Keeps a fact about a person, by default the caller",
    "inject_learning": "A lead's lesson for the team or for one worker alone",
    "undo": "Everything as it was before a run, but what somebody has changed since",
    "escalate": "Sends a memory to the parent team; later versions and its withdrawal follow",
    "knowledge.list": "The values that stand, newest first",
    "knowledge.get": "The value that stands under a key",
    "knowledge.upsert": "Keeps a value, which replaces the standing one if it is surer, confirms it if equal, or waits",
    "knowledge.arbitrate": "This value holds, and what else waits for its place is rejected",
    "imports.take": "Takes in records of another memory system, each for itself and only once",
    "knowledge.import_markdown": "Takes in a shared markdown file, each line or section as one value with its evidence",
    "knowledge.search": "Finds values by words and by meaning",
    "knowledge.delete": "Deletes a value",
    "knowledge.history": "The versions of a value, oldest first",
    "episodes.get": "One episode",
    "episodes.list": "What was tried, newest first",
    "episodes.log": "Notes one thing that was tried, how, and what came of it",
    "episodes.log_many": "Notes up to 1000 episodes; all of them, or none",
    "episodes.similar": "What was done on tasks like this one",
    "episodes.success_rates": "How often it went well, by approach, agent, day, week or month",
    "artifacts.list": "What agents have produced, newest first",
    "artifacts.delete": "Forgets an artifact; the file is not touched",
    "artifacts.verify": "Whether a file is as it was when it was registered, by its SHA-256",
    "artifacts.get": "One artifact",
    "sources.list": "What was captured, newest first, without its text",
    "sources.get": "One source, with its text",
    "sources.events": "The engine's work, newest first",
    "sources.event": "One piece of the engine's work",
    "sources.retry": "Has work that failed or was given up done again",
    "projects.list": "The projects of the team",
    "projects.register": "Makes a project known, or says more about it",
    "repos.list": "The repos of the team",
    "repos.register": "Makes a repo known, with its folder and remote",
    "views.save": "Keeps a question and its filters under a name",
    "views.run": "What a saved view finds now",
    "views.list": "The caller's saved views",
    "views.delete": "Forgets a saved view",
    "workspace.who_am_i": "Who the caller is, and in which team",
    "workspace.teams": "The teams that the caller sees",
    "workspace.members": "The members that the caller sees",
    "workspace.update_member": "Changes the team, role or trust of a member",
    "workspace.add_team": "Makes a team; the same again changes nothing",
    "workspace.arrange": "Makes teams and members true, all together",
    "workspace.add_member": "Makes a member; the same again changes nothing, and a removed one comes back",
    "workspace.remove_member": "Removes a member and its tokens; what it wrote stays",
    "workspace.locate": "The memories of every team that an id, or a part of one, may mean",
    "workspace.resolve_team": "The team of a member",
    "workspace.new_token": "Issues a token; its secret is shown this once",
    "workspace.revoke_token": "Ends a token, by its id or its secret, within a second",
    "workspace.re_embed": "Makes missing vectors of every team beside; how far each has come",
    "workspace.tokens": "Tokens, without their secrets",
    "workspace.embedding_progress": "How far the vectors of a team have come",
}
# What a rendering is, beside the same without one.
_RENDERED: Mapping[str, str] = {
    "to_markdown": "as markdown",
    "to_team_memory": "as a block of recent team memory",
    "to_past_knowledge": "as a block of relevant past knowledge",
    "to_agent_context": "as lists of memories",
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
    found = (_SUMMARIES.get(operation.name) or operation.summary).rstrip(".")
    return found if operation.shows is None else f"{found}, {_RENDERED[operation.shows]}"


def description_of(operation: Operation) -> str:
    # A protocol inherits the texts of what Python itself has under some of these names.
    own = operation.function.__doc__
    return inspect.cleandoc(own) if own else ""


def tag_of(operation: Operation) -> str:
    part, _, _ = operation.name.rpartition(".")
    first = operation.path.split("/")[2]
    return part or _TAGS.get(first, first)
