"""The words of a session: its job, as `mirrors.sessions` hands it over, and its answer."""

from typing import Any, Literal, TypedDict

ANSWER_FILE = "answer.json"


class Picture(TypedDict):
    file: str
    """Where its bytes lie, for the time of the session."""
    name: str
    """Prompt and member, as `prompt-003-1`: the same one in each evaluation."""
    caption: str


class Metrics(TypedDict):
    type: Literal["metrics"]
    seq: int
    at: float
    batch: int
    optimizer_step: int
    values: dict[str, float]


class Samples(TypedDict):
    type: Literal["samples"]
    seq: int
    at: float
    batch: int
    purpose: str
    pictures: list[Picture]


class Resumed(TypedDict):
    """The run went back: what was told of later batches is told anew."""

    type: Literal["resumed"]
    seq: int
    at: float
    batch: int


Record = Metrics | Samples | Resumed


class MirroredRunFacts(TypedDict):
    id: str
    name: str
    label: str
    url: str
    tags: list[str]
    started_at: float
    spec: dict[str, Any]


class Job(TypedDict):
    kind: str
    address: str
    place: str
    credential: str
    folder: str
    """Of mirrors that write to one."""
    work: str
    """An empty folder that is deleted afterwards."""
    proxy: str
    """URL of the only way out; empty for folders."""
    run: MirroredRunFacts
    kept: dict[str, Any]
    """What the answer before this one kept; empty at first."""
    records: list[Record]
    ending: str
    """The state in which the run has ended; empty while it has not."""


class Answer(TypedDict):
    url: str
    kept: dict[str, Any]
    num_pictures_left_out: int
    """That the tool does not take."""
