import pytest

from mycel.domain.indexed_words import Plan
from mycel.retrieval.analysis import index_text
from mycel.retrieval.lexical import (
    FUNCTION_WORDS,
    MAX_PHRASES,
    MAX_QUESTION_WORDS,
    POSTING_BUDGET,
    ROW_BUDGET,
    choose_terms,
    coverage,
    parse_question,
)

LARGE = 100_000


def anchored(plan: Plan) -> set[str]:
    return {term for group in plan.anchors for term in group}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ('"', ()),
        ("*", ()),
        ("^", ()),
        ("", ()),
        ("\x00'); --", ()),
        ("foo AND", ("foo", "and")),
        ("foo NOT bar*", ("foo", "not", "bar")),
        ("col:x", ("col:x", "col", "x")),
        ("a-b", ("a-b", "b")),
        ("NEAR(foo, 2)", ("near", "foo", "2")),
        ('say "foo', ("say", "foo")),
    ],
)
def test_reads_any_text_without_query_syntax(text: str, terms: tuple[str, ...]) -> None:
    assert parse_question(text).terms == terms


def test_reads_twenty_thousand_words_and_considers_the_first() -> None:
    question = parse_question(" ".join(f"word{chr(97 + n % 26)}{n}" for n in range(20_000)))
    assert len(question.words) == MAX_QUESTION_WORDS
    assert question.words[0].tokens == ("worda0",)


def test_names_each_word_once() -> None:
    assert parse_question("deploy Deploys deploying").terms == ("deploy",)


def test_leaves_out_words_that_only_ask() -> None:
    assert parse_question("When did we deploy the gateway?").terms == ("deploy", "gateway")


def test_asks_for_function_words_when_there_are_no_others() -> None:
    assert parse_question("The Who").terms == ("the", "who")


def test_function_words_are_written_as_the_analyser_stems_them() -> None:
    for word in ("any", "why", "does", "whose", "this", "was", "its", "these"):
        assert parse_question(f"{word} gateway").terms == ("gateway",), word
    assert {word for word in FUNCTION_WORDS if index_text(word) != word} == set()


def test_asks_for_an_identifier_whole_first_and_then_by_part() -> None:
    assert parse_question("getUserById fails").terms == ("getuserbyid", "fail", "get", "user", "by", "id")


def test_asks_for_cjk_by_bigrams_and_a_lone_character_by_itself() -> None:
    assert parse_question("東京都").terms == ("東京", "京都")
    assert parse_question("都").terms == ("都",)


def test_reads_quoted_parts_as_phrases() -> None:
    question = parse_question('who said "the big thing" and “src/app/main.py fails” or "single"')
    assert question.phrases == (("the", "big", "thing"), ("src/app/main.py", "fail"))
    assert "singl" in question.terms
    assert {"the", "main.py", "singl"} <= question.vocabulary


def test_considers_a_bounded_number_of_phrases() -> None:
    assert len(parse_question(" ".join(f'"left{n} right{n}"' for n in range(100))).phrases) == MAX_PHRASES


def test_looks_up_every_known_word_of_a_small_store() -> None:
    frequencies = {"deploy": 40, "gateway": 3, "server": 400}
    plan = choose_terms(parse_question("deploy gateway server"), frequencies=frequencies, documents=1_000)
    assert plan == Plan(anchors=(("gateway",), ("deploy",), ("server",)))


def test_leaves_out_words_the_store_does_not_know() -> None:
    plan = choose_terms(parse_question("deploy zyzzyva"), frequencies={"deploy": 4, "zyzzyva": 0}, documents=LARGE)
    assert plan == Plan(anchors=(("deploy",),))


def test_still_asks_when_the_store_knows_no_word() -> None:
    plan = choose_terms(parse_question("zyzzyva"), frequencies={}, documents=LARGE)
    assert plan == Plan(anchors=(("zyzzyva",),))
    assert choose_terms(parse_question("?"), frequencies={}, documents=LARGE) == Plan(anchors=())


def test_finds_rows_by_rare_words_and_ranks_them_by_common_ones() -> None:
    frequencies = {"gateway": 12, "server": 9_000, "use": 60_000}
    plan = choose_terms(parse_question("use gateway server"), frequencies=frequencies, documents=LARGE)
    assert plan == Plan(anchors=(("gateway",),), ranking=("server",))


def test_asks_for_common_words_together_when_all_are_common() -> None:
    frequencies = {"server": 9_000, "use": 10_000, "time": 30_000}
    plan = choose_terms(parse_question("use server time"), frequencies=frequencies, documents=LARGE)
    assert plan.anchors == (("server", "use"),)
    assert not plan.newest_first


def test_asks_for_three_together_when_two_still_name_too_many_rows() -> None:
    frequencies = {"server": 20_000, "use": 20_000, "time": 20_000, "code": 30_000}
    plan = choose_terms(parse_question("use server time code"), frequencies=frequencies, documents=LARGE)
    assert plan.anchors == (("use", "server", "time"),)


def test_takes_the_newest_rows_for_a_lone_word_found_everywhere() -> None:
    plan = choose_terms(parse_question("server"), frequencies={"server": 60_000}, documents=LARGE)
    assert plan == Plan(anchors=(("server",),), newest_first=True)


@pytest.mark.parametrize("documents", [100, 5_000, LARGE, 10_000_000])
def test_bounds_the_cost_whatever_the_frequencies(documents: int) -> None:
    question = parse_question(" ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}x" for n in range(60)))
    for step in (2, 97, 4_999):
        frequencies = {term: min(documents, 1 + n * step) for n, term in enumerate(question.terms)}
        plan = choose_terms(question, frequencies=frequencies, documents=documents)
        assert sum(frequencies[term] for term in anchored(plan)) <= ROW_BUDGET
        assert 2 * sum(frequencies[term] for term in anchored(plan) | set(plan.ranking)) <= POSTING_BUDGET


def test_more_effort_finds_rows_by_more_words() -> None:
    question = parse_question("gateway server")
    frequencies = {"gateway": 12, "server": 9_000}
    more = choose_terms(question, frequencies=frequencies, documents=LARGE, effort=8)
    assert anchored(more) == {"gateway", "server"}


def test_keeps_phrases_that_can_be_found_at_bounded_cost() -> None:
    question = parse_question('"big thing" "of the" "big zyzzyva" "the big"')
    frequencies = {"big": 500, "thing": 900, "of": 70_000, "the": 75_000, "zyzzyva": 0}
    plan = choose_terms(question, frequencies=frequencies, documents=LARGE)
    assert plan.phrases == (("big", "thing"),)


def test_a_phrase_word_nobody_counted_is_taken_for_common() -> None:
    question = parse_question('"the big thing"')
    counted = {"big": 5, "thing": 9}
    assert choose_terms(question, frequencies=counted, documents=1_000).phrases == question.phrases
    assert choose_terms(question, frequencies=counted, documents=LARGE).phrases == ()


def test_coverage_is_the_share_of_the_questions_words() -> None:
    question = parse_question("why does the deploy fail on staging")
    assert coverage(question, {"deploy", "fail", "on", "stage"}) == 1
    assert coverage(question, {"deploy", "fail"}) == pytest.approx(0.5)
    assert coverage(question, {"other"}) == 0
    assert coverage(parse_question(""), {"server"}) == 0


def test_coverage_counts_the_parts_of_an_identifier_for_less_than_the_whole() -> None:
    question = parse_question("getUserById")
    parts = set(question.terms) - {"getuserbyid"}
    assert coverage(question, {"getuserbyid", *parts}) == 1
    assert 0 < coverage(question, {"user"}) < 0.5
    assert coverage(question, parts) == pytest.approx(0.5)
