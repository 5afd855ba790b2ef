"""Read settings.

Reads: the four settings files, and the cached remote settings that they name.
Adds: `SettingsFiles`.
Effects: reads only.
"""

from __future__ import annotations

from returns.result import Success

from outfitter.host import Sources
from outfitter.model.request import Request
from outfitter.model.settings import SettingsFiles
from outfitter.railway import Effect, Outcome, attempt
from outfitter.settings.scopes import local_scopes, with_remotes


def read_settings(sources: Sources, request: Request, absent_is_fine: bool = False) -> Effect[SettingsFiles]:
    """Return the settings files of the request's project and home, highest precedence first.

    What is wrong with them is in `problems`; remote settings are not read then. Remote settings that were never fetched are a
    problem, too, unless `absent_is_fine`. Errors: `EffectFailed` if a directory cannot be read.
    """

    def read() -> Outcome[SettingsFiles]:
        files = local_scopes(sources, request)
        return Success(files if files.problems else with_remotes(sources, files, request.ambient, absent_is_fine))

    return attempt("read the settings", read)
