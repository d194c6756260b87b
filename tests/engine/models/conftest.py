"""Tiny checkpoints of every family, each built once per session, when a test first asks for it."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from worker.contracts.names import ModelFamily
from worker.fixtures.tiny_models.tiny_pipelines import build_tiny_checkpoint

CheckpointOf = Callable[[ModelFamily], str]


@pytest.fixture(scope="session")
def checkpoint_of(tmp_path_factory: pytest.TempPathFactory) -> CheckpointOf:
    folder: Path = tmp_path_factory.mktemp("tiny-models")
    return cache(lambda family: str(build_tiny_checkpoint(family, folder)))
