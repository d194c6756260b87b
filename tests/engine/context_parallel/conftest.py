"""Tiny checkpoints of every family."""

from tests.engine.models.conftest import checkpoint_of, restored_libraries  # noqa: F401
