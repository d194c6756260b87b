"""The result of one check: how it stands, why, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    FINE = "fine"
    """Looked at, and nothing stands against it."""
    WARNING = "warning"
    """The run may start, and is going to be delayed or may fail."""
    REFUSED = "refused"
    """The run cannot be started so."""
    UNKNOWN = "unknown"
    """It cannot be seen from here; the sentence says why."""


class CheckName(StrEnum):
    SPEC = "spec"
    MODEL = "model"
    REWARDS = "rewards"
    PROMPTS = "prompts"
    MEMORY = "memory"
    HOST_MEMORY = "host_memory"
    STORE = "store"
    EMBEDDINGS = "embeddings"
    DISK = "disk"
    PROJECT = "project"
    QUEUE = "queue"
    END = "end"


@dataclass(frozen=True, slots=True)
class Check:
    name: CheckName
    state: CheckState
    text: str
    """What was found, in a sentence or two."""
    remedy: str = ""
    """What to do, in one sentence; empty where there is nothing to do."""
    path: str = ""
    """The setting to change; empty where no single one is at fault."""
