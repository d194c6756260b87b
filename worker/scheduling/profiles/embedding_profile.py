"""What the text encoders of a model make of a prompt, as the pipeline of its family returns it and a node stores it.

Widths are those that published transformers take: `joint_attention_dim`, `text_dim`, `cap_feat_dim` and
`pooled_projection_dim` of their configurations. `tests/engine/models/test_stored_embedding_bytes.py` compares the
formula with what the store writes for checkpoints of several families.
"""

from dataclasses import dataclass

HEADER_BYTES = 512
"""The most that names, types, shapes and checksum take of a file: those of three tensors take 320 to 448."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingProfile:
    """The embedding of one prompt."""

    width: int
    """Values per token, of all text encoders whose values stand side by side."""
    pooled_width: int = 0
    """Values of the vector that stands for the whole prompt; 0 where the model takes none."""
    position_bytes: int = 0
    """Bytes per token of its position, where the family's pipeline returns positions, at most."""

    def num_bytes(self, num_tokens: int, value_bytes: int) -> int:
        """Bytes of the file of a prompt of `num_tokens` tokens whose values take `value_bytes` each, at most."""
        values = num_tokens * self.width + self.pooled_width
        return values * value_bytes + num_tokens * self.position_bytes + HEADER_BYTES


FLUX_POSITION_BYTES = 3 * 4
"""Three values in the precision of the text encoders."""
FLUX2_POSITION_BYTES = 4 * 8
"""Four integers."""
FLUX_EMBEDDING = EmbeddingProfile(width=4096, pooled_width=768, position_bytes=FLUX_POSITION_BYTES)
"""T5-XXL, and CLIP-L pooled."""
SD3_EMBEDDING = EmbeddingProfile(width=4096, pooled_width=768 + 1280)
"""The tokens of CLIP-L and CLIP-G, filled up to T5-XXL's width, before those of T5-XXL; both CLIPs pooled."""
WAN_EMBEDDING = EmbeddingProfile(width=4096)
"""UMT5-XXL."""
