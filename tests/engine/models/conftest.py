"""Tiny checkpoints of every family, each built once per session, when a test first asks for it."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from diffusers.models.attention_dispatch import _AttentionBackendRegistry
from torch._dynamo.utils import counters

from worker.contracts.names import ModelFamily
from worker.fixtures.tiny_models.tiny_pipelines import build_tiny_checkpoint

CheckpointOf = Callable[[ModelFamily], str]


@pytest.fixture(scope="session")
def checkpoint_of(tmp_path_factory: pytest.TempPathFactory) -> CheckpointOf:
    folder: Path = tmp_path_factory.mktemp("tiny-models")
    return cache(lambda family: str(build_tiny_checkpoint(family, folder)))


@pytest.fixture
def restored_libraries() -> Iterator[None]:
    """Graphs are counted from none on, and what a test chose is undone: torch and diffusers keep kernel choices for the
    whole process."""
    before = _AttentionBackendRegistry.get_active_backend()[0]
    torch._dynamo.reset()
    counters.clear()
    yield
    torch._dynamo.reset()
    _AttentionBackendRegistry.set_active_backend(before)
