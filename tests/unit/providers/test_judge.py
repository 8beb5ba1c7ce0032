"""The judge that comes with the package: it is whole, reads the embedder's words, and does without where it cannot."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from mycel.contracts.judge import Judge, PairOdds, Sentence
from mycel.engine.executor import InlineExecutor, Pair
from mycel.engine.executor_process import ProcessExecutor
from mycel.engine.judging.judgement import CONTRADICTS, LIKELY_SAME, Judgement, Statement
from mycel.errors import Misconfigured
from mycel.providers.embeddings.shipped import FOLDER as EMBEDDER
from mycel.providers.judge import shipped
from mycel.providers.judge.onnx_judge import OnnxJudge

MOST_BYTES = 15_000_000


@pytest.fixture(scope="module")
def judge() -> Judge:
    found = shipped.builtin_judge()
    assert found is not None
    return found


def card() -> dict[str, object]:
    return json.loads((shipped.FOLDER / shipped.CARD_FILE).read_text("utf-8"))


def test_it_was_taught_with_the_words_of_the_embedder_that_is_shipped() -> None:
    held = (EMBEDDER / "model.onnx").read_bytes()
    assert hashlib.sha256(held).hexdigest() == card()["embedder_sha256"]


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in shipped.FOLDER.iterdir()) < MOST_BYTES


def test_odds_are_shares(judge: Judge) -> None:
    (odds,) = judge.compare([("The port is 80.", "Mail is sent at noon.")])
    assert sum(odds) == pytest.approx(1)
    (said,) = judge.weigh([Sentence("We decided to use Postgres.")])
    assert sum(said.types.values()) == pytest.approx(1)
    assert sum(said.kinds.values()) == pytest.approx(1)
    assert 0 <= said.keep <= 1
    assert 0 <= said.active <= 1


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "a" * 100_000, "x " * 50_000, "\U0001f600", "日本語のテキスト", "\x00"]
)
def test_any_text_can_be_read(judge: Judge, text: str) -> None:
    (one,), (other,) = judge.compare([(text, "The port is 80.")]), judge.compare([("The port is 80.", text)])
    assert sum(one) == pytest.approx(1)
    assert sum(other) == pytest.approx(1)
    assert judge.weigh([Sentence(text, "assistant", text)])


def test_what_stands_beside_a_pair_changes_nothing(judge: Judge) -> None:
    pair, other = ("The port is 80.", "It listens on port 80."), ("Mail is sent at noon.", "a " * 90)
    assert judge.compare([pair, other])[0] == judge.compare([pair])[0] == judge.compare([other, pair])[1]


def test_without_its_file_pairs_are_judged_by_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    made = shipped.builtin_judge.__wrapped__
    assert made() is None
    same = Pair(Statement("The limit is 1 KiB."), Statement("The limit is 1024 bytes."), 0.9)
    assert InlineExecutor(made).judge([same])[0].likeness > LIKELY_SAME


@pytest.mark.parametrize(
    "words", [{"count": 1, "at": 1 << 40, "scales_at": 0}, {"count": 1 << 40, "at": 0, "scales_at": 0}]
)
def test_an_embedder_without_the_words_is_refused(words: dict[str, int]) -> None:
    with pytest.raises(Misconfigured):
        OnnxJudge(shipped.FOLDER / shipped.MODEL_FILE, card={**card(), "words": words})


def test_the_engines_child_process_has_it() -> None:
    pairs = [Pair(Statement("Staging is restored nightly."), Statement("Each night staging is restored."), 0.9)]
    child = ProcessExecutor("mycel.providers.judge.engine_child")
    try:
        assert child.judge(pairs) == InlineExecutor(shipped.builtin_judge).judge(pairs)
        assert child.judge(pairs, quick=True) == InlineExecutor().judge(pairs)
    finally:
        child.close()


def judged(earlier: str, later: str) -> Judgement:
    return InlineExecutor(shipped.builtin_judge).judge([Pair(Statement(earlier), Statement(later), None)])[0]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("prefers short answers", "likes answers to be brief"),
        ("Uploads above 25 MB are refused.", "We reject any upload that is larger than 25 megabytes."),
        ("ops-3 looks after the certificates.", "Certificates are the responsibility of ops-3."),
        ("The client gives up after 2 seconds.", "The client's timeout is 2000 ms."),
        (
            "The report was slow because every row opened a new connection.",
            "Opening one connection per row is what made the report slow.",
        ),
    ],
)
def test_paraphrases_are_merged_or_suggested(earlier: str, later: str) -> None:
    assert judged(earlier, later).likeness >= LIKELY_SAME


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("prefers short answers", "likes answers to be brief"),
        ("The timeout is 2 seconds.", "The timeout is 2000 ms."),
        ("Do not edit X, Y owns it.", "X belongs to Y: don't edit it."),
    ],
)
def test_paraphrases_do_not_contradict_each_other(earlier: str, later: str) -> None:
    assert judged(earlier, later).contradiction < CONTRADICTS


RATE = "The API is rate limited to 100 requests per minute per key."


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (RATE, "The API no longer listens on port 8080, it moved to 8443."),
        (RATE, "The API moved from the old cluster to the new one."),
        (RATE, "The API is now owned by platform, no longer by web."),
        (
            "The search service keeps logs for 14 days.",
            "The search service no longer runs on node-3, it moved to node-5.",
        ),
        ("Billing exports CSV files.", "Billing switched from Jenkins to GitHub Actions."),
    ],
)
def test_what_changed_in_another_attribute_replaces_nothing(earlier: str, later: str) -> None:
    found = judged(earlier, later)
    assert not found.supersedes
    assert found.contradiction < CONTRADICTS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The API listens on port 8080.", "The API no longer listens on port 8080, it moved to 8443."),
        (
            "The crawler runs on the Hetzner box.",
            "The crawler was moved off the Hetzner box, it runs in Kubernetes now.",
        ),
        ("Billing is built on Jenkins.", "Billing switched from Jenkins to GitHub Actions."),
    ],
)
def test_what_changed_in_the_same_attribute_replaces_it(earlier: str, later: str) -> None:
    assert judged(earlier, later).supersedes


def test_what_was_compared_once_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dry run, and then the run: the second asks the model nothing, and says the same."""
    judge = OnnxJudge(shipped.FOLDER / shipped.MODEL_FILE, card=card())
    pairs = [("The port is 80.", "It listens on port 80."), ("Mail is sent at noon.", "Deploys run on Mondays.")]
    first = judge.compare(pairs)

    def run(*_: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(judge, "_run", run)
    assert judge.compare(pairs) == first
    assert judge.compare(pairs[::-1]) == first[::-1]
    with pytest.raises(AssertionError):
        judge.compare([pairs[0][::-1]])


def test_the_reverse_order_is_asked_only_where_the_first_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = OnnxJudge(shipped.FOLDER / shipped.MODEL_FILE, card=card())
    pairs = [("The port is 80.", "The port is 81."), ("The limit is 5 MB.", "The limit is 6 MB.")]
    runs: list[str] = []
    session = judge._session  # pyright: ignore[reportPrivateUsage]

    class Counted:
        def run(self, names: list[str], given: dict[str, object]) -> object:
            runs.extend(names)
            return session.run(names, given)

    monkeypatch.setattr(judge, "_session", Counted())

    def is_first(number: int, _: PairOdds) -> bool:
        return number == 0

    one_way = judge.compare(pairs, is_enough=is_first)
    assert len(runs) == 3
    assert judge.compare(pairs, is_enough=is_first) == one_way
    assert len(runs) == 3
    # Whoever needs both orders of what was asked in one gets them.
    both = judge.compare(pairs)
    assert (len(runs) > 3, both[1]) == (True, one_way[1])
    assert both == OnnxJudge(shipped.FOLDER / shipped.MODEL_FILE, card=card()).compare(pairs)
    assert judge.compare(pairs, is_enough=is_first) == both
