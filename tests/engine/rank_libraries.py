"""Imports what rank processes have in common, in the server that they are forked from."""

from worker.engine.unwanted_imports import without_unwanted_imports

with without_unwanted_imports():
    import worker.engine.models.prompt_encoding
    import worker.engine.rollout.sampler
    import worker.engine.sync.host_staging
    import worker.engine.trainer.rank  # noqa: F401
