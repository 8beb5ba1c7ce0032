"""Builds the documentation as a site in ./site: `make docs`.

Zensical makes the pages. This adds pages from elsewhere in the repository (the changelog, the examples, …), a markdown
twin of each page and `llms.txt`, and fails where a link leads nowhere or a page would load something from elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "site"
# Pages of the site that do not lie in docs/.
PROJECT_PAGES = {
    "project/examples.md": "examples/README.md",
    "project/architecture.md": "ARCHITECTURE.md",
    "project/contributing.md": "CONTRIBUTING.md",
    "project/changelog.md": "CHANGELOG.md",
    "project/training.md": "training/README.md",
    "project/judge.md": "training/judge/README.md",
    "project/built-in-model.md": "src/mycel/providers/embeddings/builtin/README.md",
}
DECISIONS = "decisions/README.md"
FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
MAX_DESCRIPTION = 200
# Browsers then refuse whatever a page, or the theme's own script, would load from another host.
POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "script-src 'self' 'unsafe-inline'; worker-src 'self' blob:; object-src 'none'; base-uri 'self'"
)


def sources() -> dict[str, Path]:
    """Return the file of each page by its path on the site."""
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix(): path for path in sorted(docs.rglob("*.md"))}
    return pages | {page: ROOT / path for page, path in PROJECT_PAGES.items()}


def navigation() -> list[Any]:
    """Return the navigation of zensical.toml, with every decision that their own page lists."""
    nav = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    listed = re.findall(r"\[(\d+)\]\((\d+[^)]*\.md)\) \| (.*?) \|", (ROOT / "docs" / DECISIONS).read_text("utf-8"))
    decisions = [{f"{number} {title}": f"decisions/{page}"} for number, page, title in listed]
    return [
        {name: [*items, *decisions]} if name == "Decisions" else {name: items}
        for part in nav
        for name, items in part.items()
    ]


def pages_of(nav: Any) -> list[tuple[str, str]]:
    """Return title and path of each page below a part of the navigation, in its order."""
    if isinstance(nav, str):
        return [("All decisions" if nav == DECISIONS else nav, nav)]
    if isinstance(nav, list):
        return [page for item in nav for page in pages_of(item)]
    return [
        page for title, item in nav.items() for page in ([(title, item)] if isinstance(item, str) else pages_of(item))
    ]


def staged_text(page: str, pages: dict[str, Path]) -> str:
    """Return a page's markdown with its links as they are on the site.

    A link to a file of the repository that is no page keeps its text alone: a site cannot show it.
    """
    source = pages[page]
    home = {path.resolve(): name for name, path in pages.items()}
    home[ROOT / "README.md"] = "index.md"
    home[ROOT / "docs/decisions"] = DECISIONS

    def staged(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        path, hash_, anchor = target.partition("#")
        if urlsplit(target).scheme or not path:
            return match[0]
        led = (source.parent / path).resolve()
        if led in home:
            return f"{mark}[{words}]({os.path.relpath(home[led], Path(page).parent)}{hash_}{anchor})"
        return match[0] if led.is_relative_to(ROOT / "docs") else words

    parts = FENCE.split(source.read_text("utf-8"))
    return "".join(part if part.startswith("```") else LINK.sub(staged, part) for part in parts)


def description(text: str) -> str:
    """Return the first paragraph or list item of a page in plain words, cut at a sentence where it is long."""
    starts = (part.strip() for part in re.split(r"\n\s*\n|\n(?=- )", FENCE.sub("", text)))
    first = next((part.removeprefix("- ") for part in starts if re.match(r"[A-Za-z`*\[]|- ", part)), "")
    plain = " ".join(re.sub(r"[`*]", "", LINK.sub(r"\2", first)).split())
    if len(plain) <= MAX_DESCRIPTION:
        return plain
    cut = plain[: plain.rfind(". ", 0, MAX_DESCRIPTION) + 1]
    return cut or plain[: plain.rfind(" ", 0, MAX_DESCRIPTION)] + " …"


def llms_text(nav: Any, texts: dict[str, str]) -> str:
    """Return llms.txt: every page of the navigation by the address of its markdown, with what it is about."""
    project = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}", ""]
    lines += ["Each page is also there as markdown: put `.md` in the place of `.html`."]
    for part in nav:
        (name,) = part
        # The form knows one name for what a reader with little room may leave out.
        lines += ["", f"## {'Optional' if name == 'Decisions' else name}", ""]
        for title, page in pages_of(part):
            about = description(texts[page])
            lines.append(f"- [{title}]({page})" + (f": {about}" if about else ""))
    return "\n".join(lines) + "\n"


def toml_nav(nav: Any) -> str:
    """Write the navigation as one TOML value; its strings are such that JSON's quotes do."""
    if isinstance(nav, str):
        return '"' + nav.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(nav, list):
        return "[" + ", ".join(toml_nav(item) for item in nav) + "]"
    return "{" + ", ".join(f"{toml_nav(title)} = {toml_nav(item)}" for title, item in nav.items()) + "}"


class Page(HTMLParser):
    """The names that links may lead to on a built page, its links, what it loads, and lists that are none."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.lists: list[str] = []
        self._in_paragraph = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self._in_paragraph = tag == "p" or (self._in_paragraph and tag not in {"pre", "ul", "ol", "table"})
        self.names |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif "src" in found or (tag == "link" and "href" in found):
            self.loads.append(found.get("src") or found["href"])

    def handle_data(self, data: str) -> None:
        if self._in_paragraph:
            self.lists += re.findall(r"\n- (.{1,40})", data)


def problems(site: Path) -> list[str]:
    """Return the links of built pages that lead nowhere, what a page loads from elsewhere, and lists shown as text."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    found: list[str] = []
    for path, page in pages.items():
        here = path.relative_to(site)
        found += [
            f"{here} loads {one}"
            for one in page.loads
            if urlsplit(one).scheme not in {"", "data"} or one.startswith("//")
        ]
        found += [f"{here} has a list with no empty line before it: {one}" for one in page.lists]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            led = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            led = led / "index.html" if led.is_dir() else led
            names = pages[led].names if led in pages else set[str]()
            # The theme itself uses "#" and names that its script makes.
            if not led.exists() or (
                parts.fragment and not parts.fragment.startswith("__") and parts.fragment not in names
            ):
                found.append(f"{here} links to {link}")
    return found


def main() -> None:
    """Build ./site anew; end with what is wrong where something is."""
    pages, nav = sources(), navigation()
    texts = {page: staged_text(page, pages) for page in pages}
    with tempfile.TemporaryDirectory() as folder:
        staging = Path(folder)
        shutil.copytree(ROOT / "docs", staging / "docs", ignore=shutil.ignore_patterns("*.md"))
        for page, text in texts.items():
            (staging / "docs" / page).parent.mkdir(parents=True, exist_ok=True)
            (staging / "docs" / page).write_text(text, encoding="utf-8")
        settings = (ROOT / "zensical.toml").read_text("utf-8")
        before, after = re.split(r"^nav = \[.*?^\]$", settings, maxsplit=1, flags=re.MULTILINE | re.DOTALL)
        (staging / "zensical.toml").write_text(f"{before}nav = {toml_nav(nav)}{after}", encoding="utf-8")
        build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
        if subprocess.run(build, cwd=staging, check=False).returncode:
            sys.exit("Nothing was built: see above.")
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.copytree(staging / "site", SITE)
    for page, text in texts.items():
        (SITE / page).parent.mkdir(parents=True, exist_ok=True)
        (SITE / page).write_text(text, encoding="utf-8")
    (SITE / "llms.txt").write_text(llms_text(nav, texts), encoding="utf-8")
    for path in SITE.rglob("*.html"):
        # Decisions have their list as README.md, which is the index of their folder.
        twin = next((one for one in (path.with_suffix(".md"), path.with_name("README.md")) if one.exists()), None)
        head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        head += f'<link rel="alternate" type="text/markdown" href="{twin.name}">' if twin else ""
        path.write_text(path.read_text("utf-8").replace("<head>", f"<head>{head}", 1), encoding="utf-8")
    if found := problems(SITE):
        sys.exit("\n".join(found))
    print(f"{len(texts)} pages in {SITE.relative_to(ROOT)}/; open site/index.html, or: make docs-serve")  # noqa: T201


if __name__ == "__main__":
    main()
