"""Policies are read as they were stored, whatever was asked for."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from mycel.domain.memory import MadeBy
from mycel.domain.policy import Policy, changed_policy, policy_values

HUNDRED_YEARS = 36_525 * 86_400
spans = st.one_of(
    st.none(),
    st.just("never"),
    st.floats(0, HUNDRED_YEARS, exclude_min=True),
    st.integers(1, HUNDRED_YEARS),
    st.timedeltas(timedelta.resolution, timedelta(seconds=HUNDRED_YEARS)),
)


@given(spans, spans, spans, spans, spans)
def test_a_policy_comes_back_as_it_went(
    every: object, inbox: object, episodes: object, purge: object, life: object
) -> None:
    given = {
        "consolidate_every": every,
        "inbox_kept": inbox,
        "episodes_kept": episodes,
        "purge_after": purge,
        "lives": {MadeBy.MANUAL.value: life},
    }
    policy = changed_policy(Policy(), given)
    assert changed_policy(Policy(), policy_values(policy)) == policy


def test_a_span_is_never_shorter_than_asked_for() -> None:
    assert changed_policy(Policy(), {"inbox_kept": 1.2}).inbox_kept == timedelta(seconds=2)
