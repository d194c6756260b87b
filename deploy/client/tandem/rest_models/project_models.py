"""Answers of REST v1. Written by `generate.py` from `openapi.json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from tandem.tolerant_model import Model


class Me(Model):
    id: int
    username: str
    is_pool_admin: bool
    """Whether the user may manage nodes, GPUs, pools and shares."""
    is_superuser: bool
    """Whether the user administers the installation."""


class OperationProgress(Model):
    """How much of an operation is done."""

    done: int
    total: int
    unit: str
    """What is counted, such as `pictures`."""


class OperationTarget(Model):
    """What an operation is about."""

    type: Literal["run", "sweep", "gpu", "node", "retention"] | str
    id: str
    name: str
    link: str
    """Its address below this server."""


class Prompt1(Model):
    """A prompt with its negative prompt, metadata and pictures. Text alone may be written in its place."""

    text: str
    """What the model is asked to generate."""
    negative: str | None = None
    """What it is to avoid, for families with a negative prompt. Null: `sampling.negative_prompt` of the run."""
    metadata: Annotated[dict[str, Any] | None, Field(max_length=256)] = {}
    """
    Facts for rewards, as a JSON object: counts, objects and colours to check, a reference answer. Reward code of
    your own reads them; the model never sees them.
    """
    pictures: list[str] | None = []
    """Paths of pictures below TANDEM_MODEL_ROOTS that rewards may compare with. Remote scorers get their bytes."""
    id: str | None = ""
    """Name of the prompt, by which samples of different runs are compared. By default a digest of all the rest."""


class PromptSet(Model):
    id: UUID
    name: str
    project: UUID
    num_prompts: int
    prompts: list[str | Prompt1]
    created_at: AwareDatetime


class Reward(Model):
    """A scorer that a spec can name."""

    name: str
    """Value for `rewards.*.name` in a spec."""
    description: str
    """What it measures."""
    scores_images: bool
    scores_videos: bool
    """Clips as a whole, or by the mean over at most 8 evenly spaced frames."""
    looks_at: str
    """What it is given of a sample."""
    prompt: str
    """What it reads of the prompt; empty for nothing."""
    lowest: float | None
    """The least score; null for no bound."""
    highest: float | None
    """The greatest score."""
    usual: str
    """The range that scores are in, in words."""
    needs: str
    """What must be there for it."""
    gamed: str
    """How policies are known to exploit it."""
    source: str
    """A paper or a repository; empty for Tandem's own."""
    is_verdict: bool
    """1 for a right sample, 0 for a wrong one: its mean is a share."""
    is_differentiable: bool
    """Whether algorithms that follow its gradient may use it."""
    settings: dict[str, Any] | None
    """JSON schema of `rewards.*.settings`; null for a scorer that has none."""
    weights: dict[str, str | None]
    """Where its network is loaded from by default, by setting; null where the spec has to name it."""
    presets: list[str]
    """Names of the presets that use it."""


class CreatedToken(Model):
    id: str
    """The token's first characters."""
    name: str
    created_at: AwareDatetime
    expires_at: AwareDatetime | None
    last_used_at: AwareDatetime | None
    """To the minute; null for one never used."""
    scopes: list[Literal["read", "run", "pool", "admin"] | str]
    projects: list[UUID] | None
    """Ids of the projects that it is limited to; null for every project of its user."""
    pools: list[str]
    """Names of the pools that it is limited to; empty for every pool."""
    token: str
    """The token itself. It is shown this once; only its hash is kept."""


class ListedPromptSet(Model):
    id: UUID
    name: str
    project: UUID
    num_prompts: int
    first_prompts: list[str | Prompt1]
    """At most three."""
    created_at: AwareDatetime


class Operation(Model):
    """Long work that a request began."""

    id: str
    """`<kind>-<id of the row that holds it>`."""
    kind: Literal["preview", "command", "resize", "sweep", "gpu_test", "drain", "retention"] | str
    action: str
    """What was asked for: the kind, or of a `command` which one."""
    state: Literal["waiting", "running", "succeeded", "failed", "cancelled"] | str
    detail: str
    """What it waits for, or what was said of it; empty for nothing."""
    problem: str
    """Why it failed; empty where it has not."""
    progress: OperationProgress | None
    """Null where nothing is counted."""
    target: OperationTarget
    project: str | None
    """Id of the project; null for work on the pool."""
    requested_by: str | None
    """Name of the user, or of the part of Tandem; null for an account that was deleted."""
    request_id: str
    """`X-Request-ID` of the request that began it, as the audit log has it; empty where it has none."""
    created_at: AwareDatetime
    started_at: AwareDatetime | None
    """Null while nothing works on it, and where that is not noted."""
    ended_at: AwareDatetime | None
    result: str
    """Address of what comes of it, below this server."""
    can_cancel: bool
    """Whether you may cancel it now."""


class Project(Model):
    id: UUID
    name: str
    slug: str
    role: Literal["viewer", "editor", "owner"] | str
    """Your role in the project, as far as your token goes."""
    created_at: AwareDatetime


class Token(Model):
    id: str
    """The token's first characters."""
    name: str
    created_at: AwareDatetime
    expires_at: AwareDatetime | None
    last_used_at: AwareDatetime | None
    """To the minute; null for one never used."""
    scopes: list[Literal["read", "run", "pool", "admin"] | str]
    projects: list[UUID] | None
    """Ids of the projects that it is limited to; null for every project of its user."""
    pools: list[str]
    """Names of the pools that it is limited to; empty for every pool."""
