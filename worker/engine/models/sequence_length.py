"""The number of tokens after which a prompt is cut off, and to which most families pad shorter ones."""

from typing import Any

from worker.engine.errors import ModelLoadError


def sequence_length(asked: int | None, default: int, tokenizer: Any) -> int:
    """`sampling.max_sequence_length`, or what the model was trained with: `default`, or what its tokenizer allows where
    that is less. `tokenizer` is `None` for a checkpoint that lacks this encoder.

    Raises:
        ModelLoadError: for more than the tokenizer allows.
    """
    wanted = asked or default
    if tokenizer is None or wanted <= tokenizer.model_max_length:
        return wanted
    if asked is not None:
        raise ModelLoadError(
            f"`sampling.max_sequence_length` must be ≤ {tokenizer.model_max_length} for this checkpoint, got {asked}: "
            "its tokenizer allows no more"
        )
    return int(tokenizer.model_max_length)
