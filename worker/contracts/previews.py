"""The HTTP interface of a preview: a short job generates from a user's prompts, with the trained weights and without.

======  =============================================  =======================================
verb    path                                           body → answer
======  =============================================  =======================================
POST    /api/ingest/v1/previews/bootstrap                 `BootstrapRequest` → `PreviewJob`
GET     /api/ingest/v1/previews/{preview}/files/{path}        → bytes of a file of the version, or the `Range` asked for
PUT     /api/ingest/v1/previews/{preview}/images/{name}       PNG or WebM bytes, `X-Content-SHA256` → 201
POST    /api/ingest/v1/previews/{preview}/done                `PreviewDone` → 204
======  =============================================  =======================================

All but the bootstrap carry `Authorization: Bearer <token>`. 401: bad token. 410: the preview is over; the job exits.
"""

import re
from typing import Annotated, Literal, Self

from pydantic import Field

from worker.contracts.adapter_files import AdapterFile
from worker.contracts.base import Contract, Count, Index, Text
from worker.contracts.names import ModelFamily
from worker.contracts.sections import SamplingSpec

PREVIEW_BOOTSTRAP_PATH = "/api/ingest/v1/previews/bootstrap"
PREVIEW_FILE_PATH = "/api/ingest/v1/previews/{id}/files/{path}"
PREVIEW_IMAGE_PATH = "/api/ingest/v1/previews/{id}/images/{name}"
PREVIEW_DONE_PATH = "/api/ingest/v1/previews/{id}/done"
MAX_PREVIEW_PROMPTS = 8
MAX_PREVIEW_SAMPLES = 8

_IMAGE_NAME = re.compile(r"(base|lora)-(\d{1,3})-(\d{1,3})\.(png|webm)")


class PreviewJob(Contract):
    """What the job generates. Sample `index` of a prompt starts from `seed + index`, both with the trained weights and
    without."""

    id: str
    """The preview's id."""
    token: str
    """Bearer token of the job."""
    base_model_path: str
    """Folder or hub id of the base model."""
    family: ModelFamily
    """Architecture of the base model."""
    dtype: str
    """Precision of the base model."""
    device: str
    """The device of the lane allocated to the preview: `cpu`, or the accelerator's index on its node."""
    sampling: SamplingSpec
    """The run's sampling settings."""
    files: Annotated[tuple[AdapterFile, ...], Field(min_length=1)]
    """Files of the trained version: a single one is a LoRA, several are whole transformers, a folder each."""
    prompts: tuple[str, ...]
    """The user's prompts."""
    num_samples: Count
    """Samples of each prompt."""
    seed: Index
    """Seed of the first sample of each prompt."""


class PreviewImageName(Contract):
    """The name of a sample's file: `lora-<prompt index>-<index>.png` with the trained weights, `base-…` without. Clips
    end in `.webm`."""

    with_adapter: bool
    """Whether it was generated with the trained weights."""
    prompt_index: Index
    """Index of its prompt."""
    index: Index
    """Index among the samples of the prompt."""
    ending: Literal["png", "webm"] = "png"

    def __str__(self) -> str:
        return f"{'lora' if self.with_adapter else 'base'}-{self.prompt_index}-{self.index}.{self.ending}"

    @classmethod
    def parse(cls, name: str) -> Self:
        """Raises `ValueError` when `name` is not of that form."""
        match = _IMAGE_NAME.fullmatch(name)
        if match is None:
            raise ValueError(f"`name` must be like lora-0-1.png or base-0-1.png, got {name[:80]!r}")
        return cls.model_validate(
            {"with_adapter": match[1] == "lora", "prompt_index": match[2], "index": match[3], "ending": match[4]}
        )


class PreviewDone(Contract):
    """The last report of a preview job."""

    problem: Text = ""
    """Why it failed, one sentence; empty after success."""
