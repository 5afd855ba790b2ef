"""Where the attempts of a batch run: threads that each wait for a process, or a dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")
Task = TypeVar("Task")
Answer = TypeVar("Answer")
# Tasks submitted per slot: the one that runs and the next, so that no worker waits for this process.
AHEAD = 2


class Workers(NamedTuple):
    """An executor, and how many attempts it can run at once at this moment."""

    executor: Executor
    width: Callable[[], int]


class NoClusterError(Exception):
    """The cluster cannot be used; the text says why and what to do."""


@contextmanager
def local(jobs: int) -> Iterator[Workers]:
    """Run `jobs` attempts at a time on this machine."""
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="attempt") as pool:
        yield Workers(pool, lambda: jobs)


@contextmanager
def dask(scheduler: str, jobs: int) -> Iterator[Workers]:
    """Run attempts on a cluster; the task of a worker that died goes to another. Raises `NoClusterError`."""
    try:
        from distributed import Client
    except ImportError:
        raise NoClusterError("dask.distributed is not installed: pip install 'outfitter[cluster]'") from None
    try:
        client = (
            Client(scheduler, timeout=10)
            if scheduler
            else Client(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
        )
    except (OSError, ValueError) as error:
        raise NoClusterError(f"cannot connect to the scheduler at {scheduler}: {error}") from None
    with client:
        yield Workers(client.get_executor(pure=False, retries=3), lambda: _threads(client, jobs))


def _threads(client: Any, jobs: int) -> int:
    """Return how many tasks the cluster runs at once now, at least the number asked for."""
    try:
        return max(jobs, sum(map(int, client.nthreads().values())))
    except Exception:  # noqa: BLE001 - the tasks will show that the scheduler is lost
        return jobs


def spread(
    workers: Workers,
    job: Callable[[Task], Answer],
    items: Iterable[Item],
    task_of: Callable[[Item], Task | None],
    flying: dict[Future[Answer], Item],
) -> Iterator[Future[Answer]]:
    """Yield each future when it is done, in any order; `flying` holds what is submitted, not yielded.

    An item's task may hold a whole text, so it is created only when there is room for it; an item without one is skipped.
    """
    waiting = iter(items)
    exhausted = False
    while True:
        room = 0 if exhausted else AHEAD * max(1, workers.width()) - len(flying)
        while room > 0 and not exhausted:
            item = next(waiting, None)
            task = None if item is None else task_of(item)
            exhausted = item is None
            if item is not None and task is not None:
                flying[workers.executor.submit(job, task)] = item
                room -= 1
        if not flying:
            return
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            yield future
            del flying[future]
