"""Trainer ranks and samplers whose prompts are encoded once in a process, as a run's are before its lanes load.

Without the encoding phase each of them would load the text encoders anew for each prompt, which takes as long as what
most tests claim something about.
"""

from functools import cache
from typing import Any

import torch

from worker.contracts.run_spec import RunSpec
from worker.engine.models.embeddings import EmbeddingsInMemory
from worker.engine.models.precision import DTYPES
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.rank import TrainerRank


def trainer_rank(spec: RunSpec, path: str, rank: int = 0, world_size: int = 1, **options: Any) -> TrainerRank:
    """A trainer rank of the checkpoint at `path`; `options` as `TrainerRank` takes them."""
    return TrainerRank(spec, path, rank, world_size, embeddings=_embeddings(spec, path), **options)


def load_sampler(spec: RunSpec, path: str, device: str | torch.device | None = None, **options: Any) -> Sampler:
    """A sampler of the checkpoint at `path`; `options` as `Sampler.load` takes them."""
    return Sampler.load(spec, path, device, embeddings=_embeddings(spec, path), **options)


def _embeddings(spec: RunSpec, path: str) -> EmbeddingsInMemory:
    return _shared(path, DTYPES[spec.base_model.dtype], spec.sampling.max_sequence_length)


@cache
def _shared(*_key: Any) -> EmbeddingsInMemory:
    """Those of one checkpoint; a dtype or a length of prompts makes others."""
    return EmbeddingsInMemory()
