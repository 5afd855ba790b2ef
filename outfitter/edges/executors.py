"""Where a batch's attempts run: threads that each wait for a process here, or a dask.distributed cluster; one type for both."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager


class NoClusterError(Exception):
    """The cluster cannot be used: its text says why and what to do."""


@contextmanager
def local(jobs: int) -> Iterator[Executor]:
    """`jobs` attempts at a time on this machine."""
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="attempt") as pool:
        yield pool


@contextmanager
def dask(scheduler: str, jobs: int) -> Iterator[Executor]:
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
        yield client.get_executor(pure=False, retries=3)
