"""The bytes of a run's embeddings: on the disk of each node that generates or trains, and on the device of a lane.

Every prompt is encoded before the policy is loaded, and stays on the disk until the run ends. A lane has those that it
used last on its device. Invariant: it is the most that they take. In families that do not pad prompts a token stands
for at least one byte of the text, so the files may be smaller.
"""

from collections.abc import Iterable

from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.workload import Workload

NUM_ON_DEVICE = 32
"""The prompts whose embeddings a lane keeps on its device, at 4 MiB (FLUX.1) to 15 MiB (FLUX.2) each. A lane draws and
trains one prompt after another, and fetches any other's from the node's store by one copy."""
PROMPTS_PER_CLAIM = 64
"""The fewest prompts that one lane encodes at a time: loading its text encoders takes as long as encoding hundreds."""
MAX_CLAIMS = 256
"""More would not share the work out more evenly over the lanes of a node."""
TEMPLATE_TOKENS = 20
"""The most tokens that a family's chat template leaves beside those of the prompt."""


def known_texts(spec: RunSpec, prompts: Iterable[Prompt]) -> list[str]:
    """The texts that a run encodes before it begins, each once."""
    every_prompt, default = [*prompts, *spec.evaluation.prompts], spec.sampling.negative_prompt
    negatives = [prompt.negative_or(default) for prompt in every_prompt]
    return list(dict.fromkeys([*(prompt.text for prompt in every_prompt), default, *negatives]))


def num_claims(num_texts: int) -> int:
    """How many lanes of a node encode so many texts at once, at most."""
    return max(1, min(MAX_CLAIMS, num_texts // PROMPTS_PER_CLAIM))


def embedding_bytes(work: Workload, text: str) -> int:
    """Bytes of the file of one text's embeddings, at most."""
    is_padded, longest = work.unpadded_tokens is None, work.longest_prompt
    return _bytes_of(work, longest if is_padded else min(longest, len(text.encode()) + TEMPLATE_TOKENS))


def stored_embedding_bytes(spec: RunSpec, work: Workload, prompts: Iterable[Prompt]) -> int:
    """Bytes of all embeddings of a run that trains on `prompts`, on one node, at most."""
    return sum(embedding_bytes(work, text) for text in known_texts(spec, prompts))


def device_embedding_bytes(work: Workload) -> int:
    """Bytes of the embeddings that a lane has on its device, at most: of prompts as long as the run allows. However few
    prompts it trains on, those of sample requests come on top."""
    return NUM_ON_DEVICE * _bytes_of(work, work.longest_prompt)


def _bytes_of(work: Workload, num_tokens: int) -> int:
    return work.profile.embedding.num_bytes(num_tokens, work.weight_bytes)
