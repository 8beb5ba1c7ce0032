"""Stored text can show itself, and nothing more: no script, no style, no request, no turned or hidden characters."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest

from mycel.domain.hidden_text import with_hidden_named
from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.forms import own_address
from mycel.surfaces.web.markdown import to_html
from mycel.surfaces.web.memory_page import VERSIONS_SHOWN
from mycel.surfaces.web.text_diff import Effort, diff_lines
from tests.asking import asking
from tests.surfaces.web.conftest import Reader

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=http://evil.example/x onerror=alert(1)>",
    "![x](http://evil.example/x.png)",
    "[click](javascript:alert(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "<style>body{display:none}</style>",
    "<iframe src=//evil.example></iframe>",
    "[x]: javascript:alert(1)\n\n[x]",
    '<a href="x" style="position:fixed" onclick="alert(1)">x</a>',
    "<svg onload=alert(1)>",
    '"><script>alert(1)</script>',
    "```html\n</code></pre><script>alert(1)</script>\n```",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_neither_runs_nor_fetches(text: str) -> None:
    shown = str(to_html(text))
    for tag in re.findall(r"<(\w+)([^>]*)>", shown):
        assert tag[0] in {"p", "a", "code", "pre", "em", "strong"}
        assert not re.search(r"\b(on\w+|style|src)\s*=|javascript:|data:", tag[1])


@pytest.mark.parametrize("text", ["red \x1b[31mtext", "turned \u202ecod.exe", "tag \U000e0041\U000e0042"])
def test_what_nobody_would_see_is_named(text: str) -> None:
    assert "[U+" in str(to_html(text))
    assert not re.search("[\x1b\u202e\U000e0041]", str(to_html(text)))


def test_marks_that_would_pile_up_over_other_lines_are_counted() -> None:
    assert with_hidden_named("z" + "\u0301\u0316" * 20 + "algo") == "z\u0301\u0316\u0301\u0316\u0301[35 marks]algo"
    for written in ("Việt Nam", unicodedata.normalize("NFD", "Việt Nam"), "שָׁלוֹם", "مُحَمَّدٌ", "ก็ไม่"):
        assert with_hidden_named(written) == written


def test_every_page_of_a_hostile_memory_holds_it(lead: Reader, workspace: Workspace) -> None:
    for text in HOSTILE:
        made = workspace.as_member("eng-director").save(
            f"hostile note {text}", title=text.replace("\n", " ")[:80], tags=[re.sub(r"\W", "", text)[:20]]
        )
        for address in (f"/memory/{made.id}", f"/memory/{made.id}/edit", f"/memory/{made.id}?view=raw", "/browse/all"):
            page = lead.get(address).text
            assert not re.search(r"<script(?! src=\"/static/)|<img(?! src=\"/static/)|<iframe|<style|<svg on", page)
            # What a picture showed is a link, which asks nobody before somebody follows it.
            assert not re.search(r'<[^>]*(?:src|action)="(?:[a-z]+:)?//', page)


def test_an_address_makes_a_page_say_nothing(lead: Reader) -> None:
    page = lead.get("/search?q=%3Cscript%3Ealert(1)%3C/script%3E&did=%3Cb%3Eyou+won").text
    assert "<script>alert" not in page
    assert "you won" not in page


@pytest.mark.parametrize(
    "long", ["[" * 40_000, "*a" * 20_000, "`" * 40_000, "> " * 20_000, "![" * 20_000, "<" * 40_000]
)
def test_a_text_made_to_take_long_is_shown_all_the_same(long: str) -> None:
    """A reading that took the square of its length would not end before the test is cut off."""
    assert to_html(long)
    assert diff_lines("\n".join(long[:8000]), "\n".join([*long[:7999], "end"]))


# Words and lines of which both texts have some at many places, and never two beside each other.
CROSSED = [(". , " * 99, "; , " * 99), (".," * 199, ";," * 199), ("a b " * 99, "c b " * 99)]


@pytest.mark.parametrize(("old", "new"), CROSSED)
def test_texts_made_to_compare_long_are_shown_all_the_same(old: str, new: str) -> None:
    """All pairs of equal words, once for each of them: half a minute for a text of 64 KiB."""
    began = time.thread_time()
    lines = diff_lines("\n".join([old] * 160), "\n".join([new] * 160))
    assert {line.sign for line in lines} == {"-", "+"}
    assert diff_lines("\n".join(old), "\n".join(new))
    assert time.thread_time() - began < 5


def test_a_memory_of_many_long_versions_is_shown_soon(lead: Reader, workspace: Workspace) -> None:
    author = workspace.as_member("eng-director")
    old, new = CROSSED[1]
    made = author.save("\n".join([old] * 160))
    for number in range(VERSIONS_SHOWN + 4):
        author.update(made.id, content="\n".join([(old, new)[number % 2]] * 159) + str(number))
    began = time.process_time()
    page = lead.get(f"/memory/{made.id}").text
    assert "and 5 older" in page
    assert page.count("<b>Version ") == VERSIONS_SHOWN
    assert lead.get("/audit").status_code == 200
    assert time.process_time() - began < 20


def test_an_edit_of_an_ordinary_text_is_shown_word_by_word() -> None:
    """However long the text is, and however many versions it has."""
    effort = Effort()
    lines = [
        f"Line {n}: the deploy of the shop takes the cache of the night before, and the queue." for n in range(390)
    ]
    for number in range(0, 390, 15):
        changed = [*lines[:number], lines[number].replace("night", "day"), *lines[number + 1 :]]
        found = diff_lines("\n".join(lines), "\n".join(changed), effort)
        assert [p.text for line in found for p in line.pieces if p.changed] == ["night", "day"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("/browse?path=/a", "/browse?path=/a"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/a\r\nset-cookie: x", "/"),
        ("", "/"),
        (None, "/"),
    ],
)
def test_only_addresses_of_ours_are_led_to(given: str | None, kept: str) -> None:
    assert own_address(given) == kept


def test_signing_in_leads_back_to_where_one_wanted_to_go(workspace: Workspace) -> None:
    with asking(workspace) as client:
        secret, origin = workspace.issue_token("swe-1"), {"origin": "http://127.0.0.1:7077"}
        for wanted, led in (("/browse/all?type=lesson", "/browse/all?type=lesson"), ("//evil.example/", "/")):
            answer = client.post("/sign-in", data={"token": secret, "next": wanted}, headers=origin)
            assert (answer.status_code, answer.headers["location"]) == (303, led)


def test_from_a_link_elsewhere_the_browser_comes_once_more(lead: Reader) -> None:
    arrived = lead.client.get("/browse/all?type=lesson", headers={"sec-fetch-site": "cross-site"})
    assert arrived.status_code == 200
    assert 'content="0; url=/browse/all?type=lesson"' in arrived.text


@pytest.mark.parametrize("strips", [True, False])
def test_pages_stand_under_a_path_behind_a_proxy(workspace: Workspace, strips: bool) -> None:
    public = "https://example.org/mycel"
    with asking(workspace, address="http://example.org", public_url=public) as client:
        top = "" if strips else "/mycel"
        secret = workspace.issue_token("eng-director")
        signed_in = client.post(f"{top}/sign-in", data={"token": secret}, headers={"origin": "https://example.org"})
        assert signed_in.headers["location"] == "/mycel/"
        cookie = signed_in.headers["set-cookie"]
        assert "Path=/mycel;" in cookie
        assert "Secure" in cookie
        token = cookie.partition("=")[2].partition(";")[0]
        page = client.get(f"{top}/browse/all", headers={"cookie": f"mycel_token={token}"})
        assert page.status_code == 200
        links = re.findall(r'(?:href|src|action)="([^"#]+)"', page.text)
        assert [link for link in links if not link.startswith("/mycel")] == []
        offered = client.post(f"{top}/api/sign-in-links", headers={"authorization": f"Bearer {secret}"})
        assert offered.json()["url"].startswith(f"{public}/sign-in?code=")
