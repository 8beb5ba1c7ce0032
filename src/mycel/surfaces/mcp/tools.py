"""The tools, each once: its name, the method of the API behind it, and when a model should use it."""

from __future__ import annotations

from mycel.access.rules import may_curate, may_review
from mycel.domain.memory import WRITTEN
from mycel.surfaces.mcp import tool_results
from mycel.surfaces.mcp.archives import ARCHIVES
from mycel.surfaces.mcp.tool import Tool
from mycel.surfaces.mcp.tool_sets import ToolSet

_CODING, _TEAM, _SWARM = ToolSet.CODING, ToolSet.TEAM, ToolSet.SWARM
_EVERYWHERE = frozenset({_CODING, _TEAM, _SWARM})
_WHERE = ("project", "repo")
# A client repeats within seconds what got no answer; an agent may do the same thing again later.
_ANOTHER_TIME = 600.0
_SAID = tuple(name for name, row in WRITTEN.items() if row.offered)
_FILTERS = ("type", "category", "tags", "path", "agent", "since", "until", "valid_at", *_WHERE)

WHAT_TO_SAVE = (
    "Save: solutions to problems you solved, patterns of the codebase, mistakes and how to avoid them, important "
    "configuration, decisions with their reason, instructions of the user or lead. Do not save: state of this session, "
    "conclusions you have not verified, what the documentation says already, secrets."
)

FINDING: tuple[Tool, ...] = (
    Tool(
        name="search_memory",
        does="search",
        about="Search what this team has learned: lessons, decisions, facts, conventions, earlier failures. Use it "
        "before you act on anything the team may have met before: an unfamiliar part of the code, an error, a choice "
        "between designs, how something is deployed or tested. Ask in plain words. Only what is likely to help comes "
        "back, the best first, shortened; `memory-get` has the whole of one. Nothing found is an answer too.",
        takes=("query", "limit", *_FILTERS, "min_relevance"),
        needs=("query",),
        sets=frozenset({_CODING, _TEAM}),
        tell=tool_results.recall,
    ),
    Tool(
        name="memory-search",
        does="search",
        about="Search memory with a question in natural language before you start a task or when something looks "
        "familiar. Results are reranked: what is recent and often used comes first among equals. Shortened; "
        "`memory-get` has the whole of one.",
        takes=("query", "limit", *_FILTERS, "min_relevance"),
        needs=("query",),
        given={"ranking": "swarm"},
        sets=frozenset({_SWARM}),
        tell=tool_results.recall,
    ),
    Tool(
        name="memory-get",
        does="get",
        about="The whole text of one memory by its id, with who wrote it and when; an expired one too. Use it when a "
        "search shows that a memory matters. It counts as a use of the memory.",
        takes=("id",),
        needs=("id",),
        sets=_EVERYWHERE,
        tell=tool_results.memory,
    ),
    Tool(
        name="get_context",
        does="context_for",
        about="What you should know before a task: earlier failures on it, what the last session left open, "
        "conventions, wishes of who asked, decisions, lessons, each with the end of its id, which every tool "
        "takes. Call it once at the beginning, with the task in a sentence.",
        takes=("task", *_WHERE, "asked_by", "token_budget"),
        sets=_EVERYWHERE,
        tell=tool_results.context,
    ),
    Tool(
        name="recent_memories",
        does="recent",
        about="The newest memories of the team, whatever they are about.",
        takes=("limit",),
        sets=frozenset({_TEAM}),
        tell=tool_results.memories,
    ),
    Tool(
        name="list_memories",
        does="list",
        about="Memories in order of time, chosen by type, folder, tags, project or author, without a question.",
        takes=("limit", *_FILTERS, "status"),
        tell=tool_results.memories,
    ),
    Tool(
        name="explain",
        does="explain",
        about="Why a search answered as it did (`recall_id`), why it left a memory out (`recall_id` and `missing`), or "
        "what is known of one memory (`memory_id`).",
        takes=("recall_id", "missing", "memory_id"),
        sets=frozenset({_TEAM}),
        tell=tool_results.explanation,
    ),
)

WRITING: tuple[Tool, ...] = (
    Tool(
        name="save_memory",
        does="save",
        about="Save one lesson, decision or fact for the whole team and for your own next session, as soon as you have "
        f"learned it. {WHAT_TO_SAVE} Write what somebody without this conversation can use: what, where, why. What is "
        "similar already comes back with it: then update that one and delete yours, or say what yours `supersedes`.",
        takes=(*_SAID, "supersedes", "idempotency_key"),
        given={"similar": True},
        needs=("content",),
        sets=_EVERYWHERE,
        tell=tool_results.saved,
    ),
    Tool(
        name="ingest",
        does="ingest",
        about="Save a memory that is given as one object with all its fields, as programs have it.",
        takes=(
            "memory_input",
            "content",
            *(name for name, row in WRITTEN.items() if row.at_first and name != "content"),
        ),
        tell=tool_results.saved,
    ),
    Tool(
        name="update_memory",
        does="update",
        about="Correct a memory that you wrote, or share a private note of yours with the team by `visibility` team. "
        "The earlier version stays in its history.",
        takes=("id", *_SAID, "status", "reason", "expected_version"),
        needs=("id",),
        sets=frozenset({_SWARM}),
        tell=tool_results.changed,
    ),
    Tool(
        name="memory-delete",
        does="delete",
        about="Delete a memory that is wrong or no longer true: your own, or as a lead any that the team shares. It "
        "leaves every answer and can be restored by a person.",
        takes=("id",),
        needs=("id",),
        sets=frozenset({_CODING, _SWARM}),
        tell=tool_results.deleted,
        names_its_memory=True,
    ),
    Tool(
        name="rate_memory",
        does="rate",
        about="Say whether a memory that you were given helped, so that the next search ranks it better.",
        takes=("id", "useful", "recall_id"),
        needs=("id", "useful"),
        sets=frozenset({_CODING, _TEAM, _SWARM}),
        tell=tool_results.done("Thank you."),
    ),
    Tool(
        name="link_memories",
        does="link",
        about="Say how two memories belong together, or that one applies to a project or repo.",
        takes=("from_id", "to_id", "relation"),
        needs=("from_id", "to_id", "relation"),
        tell=tool_results.plain,
    ),
    Tool(
        name="upsert_profile_fact",
        does="upsert_profile_fact",
        about="Set one fact about a person, such as a preference. An agent names the person it is `about`, and what it "
        "says waits until that person or an admin approves it.",
        takes=("key", "value", "about", "confirmed"),
        needs=("key", "value"),
        tell=tool_results.saved,
    ),
    Tool(
        name="cascade",
        does="cascade",
        about="For leads: send a memory to every team below; later versions and its withdrawal follow.",
        takes=("id",),
        needs=("id",),
        shown_to=may_curate,
        tell=tool_results.sent,
    ),
    Tool(
        name="inject-learning",
        does="inject_learning",
        about="For leads: push a lesson into the memory of your workers. All of the team see it unless it is private "
        "to the one it is meant for.",
        takes=("agent_id", "learning", "category", "private", "idempotency_key"),
        needs=("agent_id", "learning", "category"),
        sets=frozenset({_SWARM}),
        shown_to=may_curate,
        tell=tool_results.saved,
    ),
)

CAPTURING: tuple[Tool, ...] = (
    Tool(
        name="capture_session",
        does="capture_session",
        about="Keep the transcript of a session, or look at one that was stored (`source_id`): it is summed up, and "
        "what it taught waits for review.",
        takes=("messages", "source_id", "scope", "session_id", "closed", "title", *_WHERE),
        tell=tool_results.event,
    ),
    Tool(
        name="capture_conversation",
        does="capture_conversation",
        about="Keep a conversation on purpose, or draw memories from one that was stored (`source_id`).",
        takes=("messages", "source_id", "scope", "capture_mode", "title", *_WHERE),
        tell=tool_results.event,
    ),
    Tool(
        name="summarize_thread",
        does="summarize_thread",
        about="Sum up a thread that was merged or archived, or one that was stored (`source_id`): its summary is "
        "found at once, and what it taught waits for review.",
        takes=("messages", "source_id", "thread_id", "title", *_WHERE),
        tell=tool_results.event,
    ),
    Tool(
        name="index_file",
        does="index_file",
        about="Keep a document so that it is found part by part; the same path again makes new versions.",
        takes=("path", "content", *_WHERE),
        needs=("path", "content"),
        tell=tool_results.event,
    ),
    Tool(
        name="complete_task",
        does="after_task",
        about="Record that a task is done and what came of it, so that others find it when they meet one like it.",
        takes=("task_id", "output", "approach", "lessons", "duration_ms", *_WHERE, "idempotency_key"),
        needs=("task_id", "output"),
        given={"action": "completed"},
        new_after=_ANOTHER_TIME,
        sets=frozenset({_SWARM}),
        tell=tool_results.task,
    ),
    Tool(
        name="fail_task",
        does="after_task",
        about="Record that a task failed and what went wrong, so that nobody repeats the same mistake.",
        takes=(
            "task_id",
            "what_went_wrong",
            "output",
            "approach",
            "lessons",
            "duration_ms",
            *_WHERE,
            "idempotency_key",
        ),
        needs=("task_id", "what_went_wrong"),
        given={"action": "failed"},
        new_after=_ANOTHER_TIME,
        sets=frozenset({_SWARM}),
        tell=tool_results.task,
    ),
    Tool(
        name="brief_task",
        does="before_task",
        about="Before you hand out a task: what was tried for it, what worked on tasks like it and who did well.",
        takes=("task", "task_id", *_WHERE, "limit", "token_budget"),
        needs=("task",),
        tell=tool_results.briefing,
    ),
)

LAYERS: tuple[Tool, ...] = (
    Tool(
        name="get_knowledge",
        does="knowledge.list",
        about="What the team holds true, one value for each key: conventions, architecture, facts of a project.",
        takes=("project", "category", "key", "limit"),
        sets=frozenset({_TEAM}),
        tell=tool_results.memories,
    ),
    Tool(
        name="set_knowledge",
        does="knowledge.upsert",
        about="Set the one value of a key, such as how the tests are run. A value of higher confidence stands; yours "
        "then waits as a candidate, and the answer says what stands. An equal value confirms it.",
        takes=("key", "value", "project", "category", "confidence", "expected_version", "idempotency_key"),
        needs=("key", "value"),
        sets=frozenset({_TEAM}),
        tell=tool_results.saved,
    ),
    Tool(
        name="arbitrate_knowledge",
        does="knowledge.arbitrate",
        about="For leads and orchestrators: decide which value of a key stands.",
        takes=("id", "reason"),
        needs=("id",),
        tell=tool_results.changed,
    ),
    Tool(
        name="log_episode",
        does="episodes.log",
        about="Log one attempt at something: how, and what came of it.",
        takes=("action", "approach", "outcome", "task_id", "duration_ms", "project", "tags", "idempotency_key"),
        needs=("action", "approach"),
        new_after=_ANOTHER_TIME,
        tell=tool_results.episode,
    ),
    Tool(
        name="list_episodes",
        does="episodes.list",
        about="What was tried, newest first: by task, agent or what came of it.",
        takes=("task_id", "agent_id", "action", "project", "since", "until", "limit"),
        tell=tool_results.episodes,
    ),
    Tool(
        name="success_rates",
        does="episodes.success_rates",
        about="How often approaches or agents succeeded.",
        takes=("by", "task_id", "agent_id", "project", "since", "until", "limit"),
        tell=tool_results.rates,
    ),
    Tool(
        name="register_artifact",
        does="artifacts.register",
        about="Register a file that a task made, with its size and checksum, so that others can build on it.",
        takes=(
            *("path", "type", "task_id", "description", "content", "size_bytes", "checksum", "project"),
            "idempotency_key",
        ),
        needs=("path",),
        tell=tool_results.artifact,
    ),
    Tool(
        name="list_artifacts",
        does="artifacts.list",
        about="Files that tasks have made.",
        takes=("task_id", "type", "path", "text", "project", "limit"),
        tell=tool_results.artifacts,
    ),
    Tool(
        name="verify_artifact",
        does="artifacts.verify",
        about="Whether a registered file is still as it was.",
        takes=("id",),
        needs=("id",),
        tell=tool_results.verified,
    ),
)

REVIEWING: tuple[Tool, ...] = (
    Tool(
        name="list_inbox",
        does="inbox",
        about="What waits for review, with why it waits and where it was said.",
        takes=("limit", "type", "project"),
        sets=frozenset({_TEAM}),
        shown_to=may_review,
        tell=tool_results.inbox,
    ),
    Tool(
        name="approve_memory",
        does="approve",
        about="Make a candidate of the inbox true for the team, after changing it if `edits` says so. One with a "
        "warning needs a person who has read it, and `acknowledge_warning`.",
        takes=("id", "edits", "acknowledge_warning"),
        needs=("id",),
        sets=frozenset({_TEAM}),
        shown_to=may_review,
        tell=tool_results.changed,
    ),
    Tool(
        name="reject_memory",
        does="reject",
        about="Turn a candidate of the inbox down, and say why.",
        takes=("id", "reason"),
        needs=("id", "reason"),
        sets=frozenset({_TEAM}),
        shown_to=may_review,
        tell=tool_results.changed,
    ),
    Tool(
        name="consolidate",
        does="consolidate",
        about="Merge duplicates, link contradictions and promote what is well grounded, as the policy of the team "
        "allows: in these memories, or in the inbox and all that changed since the last run. Try it with `dry_run` "
        "first, which says what would be done and why.",
        takes=("ids", "dry_run"),
        shown_to=may_review,
        tell=tool_results.report,
    ),
)

TOOLS: tuple[Tool, ...] = (*FINDING, *WRITING, *CAPTURING, *LAYERS, *REVIEWING, *ARCHIVES)
