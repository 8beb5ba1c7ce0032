"""The breaker, on a clock that is moved by hand."""

from __future__ import annotations

import pytest

from mycel.errors import Misconfigured, Unavailable
from mycel.providers.breaker import Breaker


class Service:
    """Fails on demand, and knows how often it was asked."""

    def __init__(self) -> None:
        self.now = 50.0
        self.asked = 0
        self.error: BaseException | None = Unavailable("no answer")
        self.breaker = Breaker("the service", clock=lambda: self.now)

    def ask(self) -> int:
        return self.breaker.call(self._answer)

    def fail(self, times: int) -> None:
        for _ in range(times):
            with pytest.raises((Unavailable, Misconfigured)):
                self.ask()

    def refusal(self) -> Unavailable:
        asked = self.asked
        with pytest.raises(Unavailable, match="left alone") as caught:
            self.ask()
        assert self.asked == asked
        return caught.value

    def _answer(self) -> int:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return self.asked


@pytest.fixture
def service() -> Service:
    return Service()


def test_opens_after_three_failures_in_a_row(service: Service) -> None:
    service.fail(2)
    service.error = None
    assert service.ask() == 3
    service.error = Unavailable("no answer")
    service.fail(3)
    refused = service.refusal()
    assert refused.retry_after == 1
    assert "no answer" in str(refused)


def test_a_wrong_setting_opens_it_too(service: Service) -> None:
    service.error = Misconfigured("wrong key")
    service.fail(3)
    assert "wrong key" in str(service.refusal())


def test_each_trial_that_fails_doubles_the_pause_up_to_a_minute(service: Service) -> None:
    service.fail(3)
    pauses: list[float] = []
    for _ in range(8):
        pauses.append(service.refusal().retry_after)
        service.now += pauses[-1]
        service.fail(1)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_trial_that_succeeds_closes_it_for_all(service: Service) -> None:
    service.fail(3)
    service.now += 1
    service.fail(1)
    service.now += 2
    service.error = None
    service.ask()
    service.error = Unavailable("no answer")
    service.fail(3)
    assert service.refusal().retry_after == 1


def test_lets_one_call_try_at_a_time(service: Service) -> None:
    service.fail(3)
    service.now += 1
    seen: list[Unavailable] = []

    def while_trying() -> int:
        seen.append(service.refusal())
        return 1

    assert service.breaker.call(while_trying) == 1
    assert seen[0].retry_after > 0


def test_an_interrupted_trial_gives_the_next_call_its_turn(service: Service) -> None:
    service.fail(3)
    service.now += 1
    service.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        service.ask()
    service.error = None
    service.ask()


def test_late_news_does_not_stretch_the_pause(service: Service) -> None:
    def late() -> int:
        service.fail(3)
        service.now += 0.5
        raise Unavailable("slow and failed")

    with pytest.raises(Unavailable, match="slow"):
        service.breaker.call(late)
    assert service.refusal().retry_after == 0.5
