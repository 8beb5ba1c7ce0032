"""Any page on the same host can have a browser ask for any address, so asking for a page changes nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.site import PAGES
from tests.surfaces.web.conftest import Reader
from tests.surfaces.web.test_every_page import opened

pytestmark = pytest.mark.each_database(slow=True)

# In a process of its own: a file of an open store is opened by nobody else in the process that has it.
_DUMP = """
import json, pathlib, sqlite3, sys
found = {}
for file in sorted(pathlib.Path(sys.argv[1]).rglob("*.sqlite")):
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in names:
        try:
            rows = connection.execute(f'SELECT * FROM "{name}"').fetchall()
        except sqlite3.OperationalError:
            continue
        found[f"{file.name}: {name}"] = sorted(map(repr, rows))
print(json.dumps(found))
"""
# Each with its reason: what is written about reading, and what the store keeps for itself.
_ABOUT_READING = {
    "recalls": "the log of searches, which `explain` reads",
    "recall_hits": "the log of searches",
    "memory_usage": "how often memories were read",
    "search_revision": "of the counts above, which searches rank by",
}
_OTHER_SITES = ("cross-site", "same-site")


def rows_of(folder: Path) -> dict[str, list[str]]:
    dumped = subprocess.run([sys.executable, "-c", _DUMP, str(folder)], capture_output=True, check=True, text=True)
    return json.loads(dumped.stdout)


@pytest.mark.files_only
def test_reading_every_page_changes_nothing(lead: Reader, workspace: Workspace, tmp_path: Path) -> None:
    waiting = next(iter(workspace.as_member("eng-director").inbox())).memory.id
    addresses = [opened(page, lead, workspace) for page in PAGES]
    found = [*addresses, *(f"{one}.json" for one in addresses if one != "/"), f"/inbox/{waiting}", "/sign-in", "/docs"]
    assert lead.get("/").status_code == 200
    before = rows_of(tmp_path)
    assert any(before.values())
    for one in found:
        answer = lead.get(one)
        assert answer.status_code in {200, 404}, one
        assert "mycel_token" not in answer.headers.get("set-cookie", ""), one
    after = rows_of(tmp_path)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert {name for name in changed if name.partition(": ")[2] not in _ABOUT_READING} == set()


@pytest.mark.parametrize("site", _OTHER_SITES)
def test_no_picture_on_another_page_signs_anybody_out(site: str, lead: Reader) -> None:
    for page in PAGES:
        for address in (page.address, page.json_address):
            answer = lead.ask(address.replace("{id}", "x"), {"sec-fetch-site": site, "sec-fetch-dest": "image"})
            assert "set-cookie" not in answer.headers, address
    assert lead.get("/").status_code == 200


def test_a_link_on_another_port_of_this_host_opens_the_page_for_whoever_is_signed_in(lead: Reader) -> None:
    arrived = lead.ask("/browse/all", {"sec-fetch-site": "same-site"})
    assert arrived.status_code == 200
    assert 'url=/browse/all"' in arrived.text
    assert "eng-director" not in arrived.text
    assert lead.ask("/browse/all", {"sec-fetch-site": "same-origin"}).status_code == 200


def test_a_cookie_of_another_port_locks_nobody_out(lead: Reader, workspace: Workspace) -> None:
    foreign = {"cookie": f"mycel_token=of-another-program; mycel_token={lead.secret}"}
    assert lead.client.get("/", headers=foreign).status_code == 200
    other = workspace.issue_token("swe-1")
    both = {"cookie": f"mycel_token={other}; mycel_token={lead.secret}", "origin": str(lead.client.base_url)}
    assert lead.client.get("/", headers=both).status_code == 303
    assert lead.client.post("/sign-out", headers=both).status_code == 204
    assert lead.get("/").status_code == 303
