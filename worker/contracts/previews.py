"""The HTTP words of a preview: a user's own prompts drawn by one short job, with what a run trained and without it.

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

from worker.contracts.base import Contract, Count, Index
from worker.contracts.events import AdapterFile
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
    """What to draw. Picture `index` of a prompt is drawn from `seed + index`, with what was trained and without."""

    id: str
    token: str
    base_model_path: str
    family: ModelFamily
    dtype: str
    device: str
    """Of the lane that the preview was given: `cpu`, or the accelerator's index on its node."""
    sampling: SamplingSpec
    files: Annotated[tuple[AdapterFile, ...], Field(min_length=1)]
    """Of the version tried: one is a LoRA, several are whole parts of the pipeline, a folder each."""
    prompts: tuple[str, ...]
    num_samples: Count
    seed: Index


class PreviewImageName(Contract):
    """Which sample a file is: `lora-<prompt index>-<index>.png` for what was trained, `base-…` for the base
    model. Clips end in `.webm`."""

    with_adapter: bool
    prompt_index: Index
    index: Index
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
    """How it went; `problem` is empty after success."""

    problem: str = ""
