"""Where a batch's attempts run: threads that each wait for a process here, or a dask.distributed cluster; one type for both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")
Task = TypeVar("Task")
Answer = TypeVar("Answer")
# Tasks handed over for each that can run at once: the one that runs, and the next, so that nobody waits for us.
AHEAD = 2


class Workers(NamedTuple):
    """Where attempts run: any executor, and how many of them can run at once as it stands now."""

    executor: Executor
    width: Callable[[], int]


class NoClusterError(Exception):
    """The cluster cannot be used: its text says why and what to do."""


@contextmanager
def local(jobs: int) -> Iterator[Workers]:
    """`jobs` attempts at a time on this machine."""
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="attempt") as pool:
        yield Workers(pool, lambda: jobs)


@contextmanager
def dask(scheduler: str, jobs: int) -> Iterator[Workers]:
    """A cluster's workers; a task whose worker died is given to another. Raises `NoClusterError`."""
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
        raise NoClusterError(f"no scheduler at {scheduler}: {error}") from None
    with client:
        yield Workers(client.get_executor(pure=False, retries=3), lambda: _threads(client, jobs))


def _threads(client: Any, jobs: int) -> int:
    """How many tasks a cluster runs at once now; before its first worker has come, as many as were asked for at a time."""
    try:
        return max(jobs, sum(map(int, client.nthreads().values())))
    except Exception:  # noqa: BLE001 - a scheduler that is lost shows in what becomes of the tasks
        return jobs


def spread(
    workers: Workers,
    job: Callable[[Task], Answer],
    items: Iterable[Item],
    task_of: Callable[[Item], Task | None],
    flying: dict[Future[Answer], Item],
) -> Iterator[Future[Answer]]:
    """Each future as it is done, in whatever order; what was handed over and is not dealt with yet stands in `flying`.

    An item's task, which may hold a whole text, is made only when there is room for it; one without a task is passed over.
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
