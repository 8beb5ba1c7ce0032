"""When the event of a cascade is carried out again."""

from __future__ import annotations

import pytest

from mycel.domain.cascade import armed_again
from mycel.domain.source import EventState
from mycel.testing.store_samples import START, an_event


@pytest.mark.parametrize("state", list(EventState))
def test_an_event_is_due_again_with_all_its_tries_whatever_became_of_it(state: EventState) -> None:
    event = an_event(None, state=state, tries=4, lease="worker-1", lease_until=START)
    assert armed_again(event, due_at=START) == an_event(None, id=event.id, state=EventState.PENDING, due_at=START)
