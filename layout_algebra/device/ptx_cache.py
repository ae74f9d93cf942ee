"""A folder of compiled texts, keyed by what they were made from.

    cache = Cache.default()
    key = cache.key("source ...", "sm_90a", {"numba-cuda": "0.30.4"})
    cache.get(key)                 # None, or what was put there
    cache.put(key, {"text": "..."})

An entry is one JSON file that is written aside and moved into place, so that processes which share
the folder never read half a file.  A file that cannot be read is treated as absent.  The folder is
`LAYOUT_ALGEBRA_CACHE` where that is set, else `layout_algebra` in the user's cache directory.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from layout_algebra.version import __version__

#: The environment variable that moves the cache.
VARIABLE = "LAYOUT_ALGEBRA_CACHE"


@dataclass(frozen=True)
class Cache:
    """The entries of one folder, which is made when something is put there."""

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))  # text is accepted too

    @staticmethod
    def default() -> Cache:
        """The user's cache; see the module's text."""
        given = os.environ.get(VARIABLE)
        if given:
            return Cache(Path(given))
        base = os.environ.get("XDG_CACHE_HOME")
        return Cache((Path(base) if base else Path.home() / ".cache") / "layout_algebra")

    def key(self, source: str, target: str, versions: Mapping[str, str]) -> str:
        """The name of the entry for this source, target and set of versions."""
        parts = {
            "source": source,
            "target": target,
            "versions": dict(sorted(versions.items())),
            "layout_algebra": __version__,
        }
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def get(self, key: str) -> dict[str, Any] | None:
        """The entry, or None."""
        try:
            found = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        # what was damaged is made again, never believed
        if not isinstance(found, dict) or found.get("key") != key:
            return None
        body = found.get("entry")
        whole = isinstance(body, dict) and found.get("digest") == _digest(body)
        return body if whole else None

    def put(self, key: str, entry: Mapping[str, Any]) -> None:
        """Keeps an entry; a folder that cannot be written is left alone."""
        body = dict(entry)
        text = json.dumps({"key": key, "digest": _digest(body), "entry": body})
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                Path(name).replace(self._path(key))
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def _digest(entry: Mapping[str, Any]) -> str:
    return sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()
