"""The section of a `RunSpec` on the training samples that are stored to be looked at. Its docstrings are the help in
the form, as those of `worker.contracts.sections` are."""

from typing import Annotated

from pydantic import Field

from worker.contracts.base import Contract

MAX_STORED_SAMPLES = 512
"""The most samples stored of a batch: the driver holds them in memory until they are encoded, 1.5 GiB of 1024 × 1024
pixels each."""

NUM_HELD_OUT_SAMPLES = 48
"""Samples stored of an evaluation or a request, where the spec does not store more of a batch: they are rare, and
compared by eye between versions."""


class StoredSamplesSpec(Contract):
    """Which samples of a training batch are stored, for the page of samples and for reports. Every sample is scored and
    trained on, stored or not."""

    num_per_batch: Annotated[int, Field(ge=0, le=MAX_STORED_SAMPLES)] = 24
    """Samples of each batch that are stored: the first members of every prompt, as many of each. As many as the batch
    has store all members of all prompts; 0 stores none. Pictures are PNG without loss, so each takes up to 3 bytes a
    pixel: 0.75 MiB at 512 × 512, 3 MiB at 1024 × 1024, and 24 of these at most 72 MiB a batch. Evaluations store 48
    samples, or this many where it is more."""
