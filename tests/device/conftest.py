"""What several of these tests need."""

from __future__ import annotations

from importlib import metadata

import pytest

from layout_algebra.device import toolchain


@pytest.fixture
def no_cuda_packages(monkeypatch):
    """A machine without the extra `cuda`, whether or not this one has it."""

    def gone(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(toolchain.metadata, "version", gone)
    toolchain.versions.cache_clear()
    yield
    toolchain.versions.cache_clear()
