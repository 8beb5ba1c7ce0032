"""Shared markdown as knowledge: keys from headings and named lines, values with their exact place."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mycel.engine.shared_context import lines_of, read_shared_context, slug

NOTES = """\
Read this before you start.

# Swarm

What everybody should know.

## Conventions
- **imports**: Use the node: prefix
  for builtins.
- tests: next to the code
- Keep functions small, always: nobody reads long ones.

### Naming
Files are kebab-case.

```md
## not a heading
- not: a line
```

## Architecture
One process per team.
- `auth-flow`: API key for a JWT

## Deploy steps
1. build
2. ship

## Empty one
"""


def values(text: str, name: str = "docs/CONTEXT.md") -> dict[tuple[str | None, str], str]:
    entries, _ = read_shared_context(text, name=name)
    found = {(entry.category, entry.key): text[entry.start : entry.end] for entry in entries}
    assert len(found) == len(entries)
    return found


def test_headings_and_named_lines_become_keys_and_categories() -> None:
    assert values(NOTES) == {
        (None, "context"): "Read this before you start.",
        (None, "swarm"): "What everybody should know.",
        ("convention", "imports"): "Use the node: prefix\n  for builtins.",
        ("convention", "tests"): "next to the code",
        ("convention", "conventions"): "- Keep functions small, always: nobody reads long ones.",
        ("convention", "naming"): "Files are kebab-case.\n\n```md\n## not a heading\n- not: a line\n```",
        ("architecture", "architecture"): "One process per team.",
        ("architecture", "auth-flow"): "API key for a JWT",
        (None, "deploy-steps"): "1. build\n2. ship",
    }


def test_what_has_no_text_is_reported_with_its_line() -> None:
    _, empty = read_shared_context(f"---\nowner: lead-1\n---\n{NOTES}- port:\n", name="a.md")
    assert [(one.what, one.reason.split()[0]) for one in empty] == [
        ("front matter", "says"),
        ("Empty one \u203a port", "has"),
    ]
    assert lines_of("a\nb\nc", [0, 2, 2, 4]) == [1, 2, 2, 3]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("- port: 80", ("port", "80")),
        ("* **port:** 80", ("port", "80")),
        ("+ **The port**: 80", ("the-port", "80")),
        ("- `PORT`: 80", ("port", "80")),
        ("- ports:\n  - http: 80", ("ports", "- http: 80")),
        ("- see https://example.org", None),
        ("- node:fs is a builtin", None),
        ("- when it fails, do this: wait", None),
        ("- one two three four five six seven: too much", None),
        ("port: 80", None),
    ],
)
def test_only_a_short_name_at_the_start_of_a_list_item_is_a_key(line: str, named: tuple[str, str] | None) -> None:
    expected = named or ("ports-and-such", line)
    assert values(f"# Notes\n## Ports and such\n{line}\n") == {
        (None, expected[0] if named is None else f"ports-and-such/{expected[0]}"): expected[1]
    }


def test_equal_keys_are_numbered_in_the_order_of_the_file() -> None:
    found = values("# A\none\n# A\ntwo\n# A-2\nthree\n# Facts\n- a: four\n")
    assert found == {(None, "a"): "one", (None, "a-3"): "two", (None, "a-2"): "three", ("fact", "a"): "four"}


def test_text_after_a_list_belongs_to_its_section_again() -> None:
    found = values("# Facts\n- a: one\n\n  still one\n\nafter\n- b: two\n")
    assert found == {("fact", "a"): "one\n\n  still one", ("fact", "facts"): "after", ("fact", "b"): "two"}


def test_a_file_without_headings_is_one_value_under_its_name() -> None:
    assert values("Just this.", name="notes/Team rules.md") == {(None, "team-rules"): "Just this."}
    assert slug("Über Maße & Co.") == "über-masse-co"
    assert slug("🚀") == "section"


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "# A",
                "## B",
                "### Facts",
                "text",
                "- k: v",
                "- **k**: v",
                "  more",
                "",
                "```",
                "x\n===",
                "- plain",
            ]
        ),
        max_size=14,
    )
)
def test_nothing_is_lost(lines: list[str]) -> None:
    """Every word stands in exactly one value, in a heading, in a name, or in what was reported."""
    text = "\n".join(lines)
    entries, _ = read_shared_context(text, name="f.md")
    spans = [(entry.start, entry.end) for entry in entries]
    assert spans == sorted(spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert len({(entry.category, entry.key) for entry in entries}) == len(entries)
    covered = "".join(text[start:end] for start, end in spans)
    for word in ("text", "more", "plain"):
        assert covered.count(word) == text.count(word)


def test_a_long_run_of_spaces_takes_no_time() -> None:
    before = time.process_time()
    read_shared_context("- a" + " " * 100_000 + "\n", name="notes.md")
    assert time.process_time() - before < 2


def test_a_title_holds_nothing_that_cannot_be_seen() -> None:
    entries, _ = read_shared_context("# One\ttwo \N{ZERO WIDTH JOINER}three\n\n- a\tb: c\n", name="notes.md")
    assert [(entry.key, entry.title) for entry in entries] == [("one-two-three/a-b", "One two three \u203a a b")]
