"""The committed checkpoint and judge, loaded once for the whole folder."""

import pytest
from diffusers import FluxPipeline

from worker.shapes.checkpoint import load_pipeline
from worker.shapes.judge import Judge


@pytest.fixture(scope="session")
def pipeline() -> FluxPipeline:
    return load_pipeline()


@pytest.fixture(scope="session")
def judge() -> Judge:
    return Judge.load()
