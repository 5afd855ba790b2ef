"""Tasks are made as there is room for them, whatever executor they are spread over."""

import threading
import time
import weakref
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.batch.executors import AHEAD, Workers, spread

ALIVE: weakref.WeakSet = weakref.WeakSet()


class Text:
    """A task that is large in life: how many there are at a time is what counts."""

    def __init__(self, number):
        self.number = number
        ALIVE.add(self)


class AtOnce(Executor):
    """Runs a task where it is submitted."""

    def submit(self, fn, /, *given, **named):
        future = Future()
        future.set_result(fn(*given, **named))
        return future


class Manual(Executor):
    """Runs nothing until it is told to, and in the order that it is told."""

    def __init__(self):
        self.held = []

    def submit(self, fn, /, *given):
        future = Future()
        self.held.append((future, fn, given))
        return future

    def run(self, index):
        future, fn, given = self.held.pop(index % len(self.held))
        future.set_result(fn(*given))


def number_of(task):
    return task.number


def most_alive(workers, count):
    """(the answers, the most tasks that were there at a time) of spreading so many."""
    ALIVE.clear()
    most, answers, flying = 0, [], {}
    for future in spread(workers, number_of, range(count), Text, flying):
        most = max(most, len(ALIVE))
        answers.append((flying[future], future.result()))
    assert not flying
    return answers, most


@pytest.mark.parametrize("kind", [AtOnce, lambda: ThreadPoolExecutor(3)], ids=["at once", "threads"])
def test_of_many_tasks_few_are_there_at_a_time(kind):
    with kind() as pool:
        answers, most = most_alive(Workers(pool, lambda: 3), 500)
    assert sorted(answers) == [(number, number) for number in range(500)]
    assert most <= AHEAD * 3 + 1


@given(st.integers(0, 30), st.lists(st.integers(1, 5), min_size=1, max_size=5), st.data())
def test_everything_is_done_once_in_any_order_and_at_any_width(count, widths, data):
    pool, flying, seen = Manual(), {}, []
    width = iter(widths * 1000)
    workers = Workers(pool, lambda: next(width))
    ended = threading.Event()

    def consume():
        seen.extend(flying[future] for future in spread(workers, number_of, range(count), Text, flying))
        ended.set()

    consumer = threading.Thread(target=consume)
    consumer.start()
    while not ended.wait(0.001):
        if pool.held:
            assert len(pool.held) <= AHEAD * max(widths)
            pool.run(data.draw(st.integers(0, 30)))
    consumer.join()
    assert sorted(seen) == list(range(count))


def test_an_item_without_a_task_is_passed_over():
    seen, flying = [], {}
    workers = Workers(AtOnce(), lambda: 1)
    for future in spread(workers, number_of, range(9), lambda n: Text(n) if n % 3 else None, flying):
        seen.append(future.result())
    assert sorted(seen) == [1, 2, 4, 5, 7, 8]


def test_what_an_interrupt_leaves_is_still_named():
    flying: dict = {}

    def interrupted():
        for _ in spread(Workers(AtOnce(), lambda: 2), number_of, range(9), Text, flying):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert sorted(flying.values()) == [0, 1, 2, 3]


def test_workers_that_come_later_get_their_share():
    pool, flying, width = Manual(), {}, [0]
    going = spread(Workers(pool, lambda: width[0]), number_of, range(20), Text, flying)
    first = threading.Thread(target=lambda: next(going))
    first.start()
    while len(pool.held) < AHEAD:
        time.sleep(0.001)
    pool.run(0)
    first.join()
    width[0] = 5
    second = threading.Thread(target=lambda: next(going))
    second.start()
    while len(pool.held) < AHEAD * 5:
        time.sleep(0.001)
    pool.run(0)
    second.join()
    assert len(pool.held) == AHEAD * 5 - 1
