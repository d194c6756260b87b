"""The bytes of a run's embeddings on the disk of each node that generates or trains.

Every prompt is encoded before the policy is loaded, and stays until the run ends. Invariant: it is the most that they
take. In families that do not pad prompts a token stands for at least one byte of the text, so the files may be smaller.
"""

from collections.abc import Iterable

from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.workload import Workload

TEMPLATE_TOKENS = 20
"""The most tokens that a family's chat template leaves beside those of the prompt."""


def known_texts(spec: RunSpec, prompts: Iterable[Prompt]) -> list[str]:
    """The texts that a run encodes before it begins, each once."""
    every_prompt, default = [*prompts, *spec.evaluation.prompts], spec.sampling.negative_prompt
    negatives = [prompt.negative_or(default) for prompt in every_prompt]
    return list(dict.fromkeys([*(prompt.text for prompt in every_prompt), default, *negatives]))


def embedding_bytes(spec: RunSpec, work: Workload, text: str) -> int:
    """Bytes of the file of one text's embeddings, at most."""
    return work.profile.embedding.num_bytes(_num_tokens(spec, work, text), work.weight_bytes)


def stored_embedding_bytes(spec: RunSpec, work: Workload, prompts: Iterable[Prompt]) -> int:
    """Bytes of all embeddings of a run that trains on `prompts`, on one node, at most."""
    return sum(embedding_bytes(spec, work, text) for text in known_texts(spec, prompts))


def _num_tokens(spec: RunSpec, work: Workload, text: str) -> int:
    length = FAMILY_TRAITS[spec.base_model.family].sequence_length
    if length.is_padded:
        return work.profile.text_tokens
    most = spec.sampling.max_sequence_length or length.default
    return min(most, len(text.encode()) + TEMPLATE_TOKENS)
