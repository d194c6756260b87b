"""The pictures of a report, inlined: held-out ones before and after training, and some that were trained on.

Invariant: their number and their bytes are bounded, and whatever is left out is counted, so that no reader takes a
selection for the whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from gallery import selectors
from gallery.inline import uris_within
from gallery.models import Sample

MAX_PROMPTS = 6
MAX_MEMBERS = 4
"""Pictures of a prompt on each side: as many as a printed page shows side by side at a readable size."""
MAX_TRAINED = 12
MAX_TOTAL_BYTES = 8 * 2**20
"""Of all pictures of a report: it is sent by mail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    uri: str
    seed: int
    reward: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPair:
    """One held-out prompt under the first and the newest policy that were evaluated, from the same seeds."""

    prompt: str
    before: Sequence[Picture]
    after: Sequence[Picture]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    first_batch: int | None
    """Complete batches before the first evaluation with pictures; None without one."""
    last_batch: int | None
    pairs: Sequence[PromptPair]
    trained_batch: int | None
    trained: Sequence[Picture]
    num_shown: int
    num_left_out: int
    """Pictures of the same batches that are not in the report."""


def pictures(run_id: UUID) -> Pictures:
    """What the report shows of the run's samples; clips are shown by their still picture."""
    evaluated = selectors.sample_batches(run_id, "evaluate")
    first, last = (evaluated[0], evaluated[-1]) if evaluated else (None, None)
    before = [] if first is None else selectors.samples(run_id, purpose="evaluate", batches=[first])
    after = [] if last is None or last == first else selectors.samples(run_id, purpose="evaluate", batches=[last])
    batches = selectors.sample_batches(run_id, "train")
    trained = selectors.samples(run_id, purpose="train", batches=batches[-1:]) if batches else []
    prompts = list(dict.fromkeys(sample.prompt_index for sample in before))[:MAX_PROMPTS]
    sides = {index: (_of(before, index), _of(after, index)) for index in prompts}
    chosen = [sample for pair in sides.values() for side in pair for sample in side] + trained[:MAX_TRAINED]
    uris = uris_within(run_id, chosen, max_total_bytes=MAX_TOTAL_BYTES)
    pairs = [
        PromptPair(prompt=old[0].prompt, before=_shown(old, uris), after=_shown(new, uris))
        for old, new in sides.values()
    ]
    shown = _shown(trained[:MAX_TRAINED], uris)
    num_shown = len(shown) + sum(len(pair.before) + len(pair.after) for pair in pairs)
    return Pictures(
        first_batch=first,
        last_batch=last,
        pairs=[pair for pair in pairs if pair.before or pair.after],
        trained_batch=batches[-1] if shown else None,
        trained=shown,
        num_shown=num_shown,
        num_left_out=len(before) + len(after) + len(trained) - num_shown,
    )


def _of(samples: Sequence[Sample], prompt_index: int) -> list[Sample]:
    return [sample for sample in samples if sample.prompt_index == prompt_index][:MAX_MEMBERS]


def _shown(samples: Sequence[Sample], uris: Mapping[tuple[int, str], str]) -> list[Picture]:
    return [
        Picture(uri=uris[sample.attempt, sample.picture_path], seed=int(sample.seed), reward=sample.reward)
        for sample in samples
        if (sample.attempt, sample.picture_path) in uris
    ]
