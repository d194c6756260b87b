"""Tiny checkpoints of every family."""

from tests.engine.models.conftest import checkpoint_of  # noqa: F401
