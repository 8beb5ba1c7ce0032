"""Which peers are measured, from which versions, and how each is used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """`package` is the one whose version is named; `used` and `on_disk` are what a reader of the table must know."""

    name: str
    package: str
    requirements: tuple[str, ...]
    script: str
    used: str
    on_disk: str
    python: tuple[int, int] = (3, 11)
    extensions: bool = True
    ours: bool = False


MYCEL = Peer(
    name="mycel",
    package="mycel-memory",
    requirements=(),
    script="with_mycel.py",
    used="save and search of one member; bulk: save_many; finds by words and meaning",
    on_disk="one fsync per save",
    ours=True,
)

PEERS = (
    Peer(
        name="mem0",
        package="mem0ai",
        requirements=("mem0ai==2.2.1",),
        script="with_mem0.py",
        used="add(infer=False) and search on its default store, Qdrant's local mode; meaning only, no bulk add",
        on_disk="8 fsyncs per add: one of its two databases after the other",
    ),
    Peer(
        name="langgraph",
        package="langgraph-checkpoint-sqlite",
        requirements=("langgraph-checkpoint-sqlite==3.1.2",),
        script="with_langgraph.py",
        used="SqliteStore.put and search with an index; bulk: batch; meaning only",
        on_disk="4 fsyncs per put",
    ),
    Peer(
        name="mcp-memory-service",
        package="mcp-memory-service",
        requirements=("mcp-memory-service==12.2.0",),
        script="with_mcp_memory_service.py",
        used="its sqlite-vec storage, store and retrieve; bulk: store_batch; meaning only",
        on_disk="no fsync per add (WAL, synchronous=NORMAL): a power cut can lose the last ones",
    ),
    Peer(
        name="cairn",
        package="cairn-memory",
        requirements=("cairn-memory==2.2.1",),
        script="with_cairn.py",
        used=(
            "SQLiteStore.store and query; words and meaning, without its reranker, a download, and without its "
            "check for duplicates, made for the vectors of its own model, a download; no bulk add without it"
        ),
        on_disk="no fsync per add (WAL, synchronous=NORMAL): a power cut can lose the last ones",
    ),
    Peer(
        name="chroma",
        package="chromadb",
        requirements=("chromadb==1.5.9",),
        script="with_chroma.py",
        used="a collection of the persistent client, add and query; bulk: add of many; meaning only",
        on_disk="8 fsyncs per add",
    ),
    Peer(
        name="txtai",
        package="txtai",
        requirements=("txtai==9.14.0",),
        script="with_txtai.py",
        used="upsert and search of an Embeddings with content; bulk: upsert of many; meaning only",
        on_disk="nothing is written before save(), which is not called",
    ),
    Peer(
        name="memvid",
        package="memvid-sdk",
        requirements=("memvid-sdk==2.0.160",),
        script="with_memvid.py",
        used="put_many of one and find(mode='sem'), opened anew to find what is new; bulk: put_many; meaning only",
        on_disk="about 50 fsyncs per add",
    ),
    Peer(
        name="basic-memory",
        package="basic-memory",
        requirements=("basic-memory==0.23.2",),
        script="with_basic_memory.py",
        used="write_note and search_notes of its MCP server in process; words only, no model offline; no bulk add",
        on_disk="one fsync per note, and the index is written beside",
        python=(3, 12),
        extensions=False,
    ),
)
