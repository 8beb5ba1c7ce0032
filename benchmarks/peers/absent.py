"""What a user might pick as well but that does not run offline: what was tried, and what it said."""

from __future__ import annotations

from dataclasses import dataclass

TRIED_ON = "2026-11-15"


@dataclass(frozen=True, slots=True)
class Absent:
    """`package` with its version."""

    package: str
    tried: str
    said: str


ABSENT = (
    Absent("a-mem 0.2.6", "AgenticMemorySystem()", "OSError: couldn't connect to load all-MiniLM-L6-v2"),
    Absent("cognee 1.6.5", "add, then cognify", "ValueError: Could not load model BAAI/bge-small-en-v1.5"),
    Absent(
        "graphiti-core 0.31.1",
        "Graphiti(a graph database), build_indices_and_constraints",
        "OpenAIError: Missing credentials",
    ),
    Absent("hindsight-api 1.1.0", "MemoryEngine()", "ValueError: LLM API key is required"),
    Absent("langmem 0.0.30", "create_memory_store_manager(...).invoke", "OpenAIError: Missing credentials"),
    Absent("letta 0.34.12", "letta -p hello", "Missing LETTA_API_KEY; the package is a client of a service"),
    Absent("memori 3.3.6", "Memori().recall", "MissingMemoriApiKeyError"),
    Absent(
        "memori 3.3.6, own SQLite",
        "Memori(conn=...).recall",
        "RuntimeError: Could not find tokenizer.json for Qdrant/all-MiniLM-L6-v2-onnx: request error",
    ),
    Absent("memoryos 2.0.33 (MemOS)", "MOS.simple()", "ValueError: OPENAI_API_KEY environment variable is required"),
    Absent("supermemory 5.0.1", "Supermemory(...).add", "APIConnectionError; the package is a client of a service"),
    Absent("zep-cloud 4.0.1", "a call of Zep(...).user", "ConnectError: Name or service not known; a service"),
)
