"""Claims about which processor a guest stays on."""

from __future__ import annotations

import pytest

from wavetank.lab.host.processors import LOOK_S, Processors, busy_ticks


class Machine:
    """Processors that do so many ticks of work per second of a time that passes by sleeping."""

    def __init__(self, *rates: float) -> None:
        self.rates = dict(enumerate(rates))
        self.work = dict.fromkeys(self.rates, 0.0)
        self.now_s = 100.0

    def ticks(self) -> dict[int, int]:
        return {one: round(work) for one, work in self.work.items()}

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        for one, rate in self.rates.items():
            self.work[one] += rate * seconds

    def processors(self) -> Processors:
        return Processors(lambda: set(self.rates), self.ticks, lambda: self.now_s, self.sleep)


def test_a_guest_goes_where_least_is_done() -> None:
    assert Machine(80, 100, 3, 60).processors().claim() == 2


def test_two_guests_share_a_processor_only_when_all_have_one() -> None:
    processors = Machine(0, 100, 50).processors()
    assert [processors.claim() for _ in range(4)] == [0, 2, 1, 0]


def test_a_processor_that_was_released_is_free_again() -> None:
    processors = Machine(0, 100).processors()
    first = processors.claim()
    assert first == 0
    processors.release(first)
    assert processors.claim() == 0


def test_where_there_is_no_choice_nothing_is_claimed() -> None:
    processors = Machine(5).processors()
    assert processors.claim() is None
    processors.release(None)


def test_a_host_that_tells_nothing_has_its_processors_used_in_turn() -> None:
    processors = Processors(lambda: {0, 1}, dict, lambda: 0.0, lambda _: None)
    assert {processors.claim(), processors.claim()} == {0, 1}


def test_guests_that_start_together_share_a_look() -> None:
    machine = Machine(10, 20)
    processors = machine.processors()
    processors.claim()
    before = machine.now_s
    processors.claim()
    assert machine.now_s == before


def test_the_work_of_a_guest_that_has_ended_is_not_seen() -> None:
    machine = Machine(0, 30)
    processors = machine.processors()
    first = processors.claim()
    assert first == 0
    machine.work[0] += 100 * 60
    machine.now_s += 60
    processors.release(first)
    before = machine.now_s
    assert processors.claim() == 0
    assert machine.now_s == pytest.approx(before + LOOK_S)


def test_this_machine_tells_of_its_processors() -> None:
    before, after = busy_ticks(), busy_ticks()
    assert before
    assert all(after[one] >= ticks for one, ticks in before.items())
