"""Where archives are fetched and sent, and under which names."""

from __future__ import annotations

EXPORT = "/api/export"
IMPORT = "/api/import"
# The header of an export that holds its report, in ASCII JSON.
REPORT = "mycel-report"


def name_of(*, packed: bool) -> str:
    return "archive.jsonl.gz" if packed else "archive.jsonl"
