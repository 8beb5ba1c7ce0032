"""What a write did besides is said in its answer: masked secrets are counted, and tags that gave way are named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.squad import Squad, open_squad

pytestmark = pytest.mark.each_database(slow=True)

SECRETS = "The password=hunter2aX9kkw and the token ghp_abcdefghijklmnopqrstuvwxyz0123456789 open it."
MASKED = ("2 secrets masked (password, github token)",)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def test_masked_secrets_are_counted_in_the_answer_and_nowhere_else(squad: Squad) -> None:
    saved = squad.author.save(SECRETS)
    assert saved.notices == MASKED
    assert squad.author.get(saved.id).notices == ()
    (one, other) = squad.author.save_many([{"content": SECRETS}, {"content": "nothing of it"}])
    assert (one.notices, other.notices) == (MASKED, ())
    key = squad.author.knowledge.upsert(key="door", value=SECRETS)
    assert key.notices == MASKED


def test_two_secrets_of_one_kind_are_two(squad: Squad) -> None:
    saved = squad.author.save("password=hunter2aX9kkw on one, password=otherPw77zz on two")
    assert saved.notices == ("2 secrets masked (password)",)
    quoted = squad.author.save("Here stands [secret:password], and password=hunter2aX9kkw.")
    assert quoted.notices == ("1 secret masked (password)",)


def test_an_update_names_what_it_masked_and_keeps_what_its_writer_noted(squad: Squad) -> None:
    saved = squad.author.save("The door is open.", metadata={"room": "7"})
    changed = squad.author.update(saved.id, content=SECRETS)
    assert changed.notices == MASKED
    assert dict(squad.author.get(saved.id).metadata) == {"room": "7", "mycel_masked": ["password", "github_token"]}
    assert squad.author.update(saved.id, title="A door").notices == ()
    clean = squad.author.update(saved.id, content="The door is shut.")
    assert (clean.notices, dict(clean.metadata)) == ((), {"room": "7"})


def test_tags_that_give_way_are_named(squad: Squad) -> None:
    saved = squad.author.save("The door is open.", tags=["door", "house"])
    changed = squad.author.update(saved.id, tags=["house", "key"])
    assert changed.notices == ("tag door taken off: the tags given replace those before",)
    assert squad.author.update(saved.id, tags=["house", "key", "lock"]).notices == ()
    waiting = squad.author.save("The lamp is green.", tags=["a", "b"], needs_review=True)
    approved = squad.person.approve(waiting.id, edits={"tags": ["c"]})
    assert approved.notices == ("tags a, b taken off: the tags given replace those before",)


def test_a_rejection_without_a_reason_puts_no_words_into_anybodys_mouth(squad: Squad) -> None:
    for act in (lambda id: squad.person.reject(id), lambda id: squad.person.reject_many([id])):
        waiting = squad.author.save("The lamp is green.", needs_review=True)
        act(waiting.id)
        assert squad.person.history(waiting.id)[-1].reason == "rejected"
