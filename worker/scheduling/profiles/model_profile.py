"""How a model is described for planning: tokens, floating-point operations, bytes; no seconds.

Formulas: a linear layer costs 2 operations per parameter and token; attention costs 4 · tokens² · width per layer
(scores and weighted sum). Invariant: a profile describes the model alone, never the device or the run. The models are
in `image_models` and `video_models`.
"""

import math
from dataclasses import dataclass, replace

from worker.scheduling.profiles.decoding_profile import DecodingProfile
from worker.scheduling.profiles.embedding_profile import EmbeddingProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """A diffusion transformer with its autoencoder."""

    name: str
    hub_names: tuple[str, ...] = ()
    """What the last part of a path or hub id must begin with to mean this model, in lower case."""
    parameters: float
    """The number of the transformer's parameters held in memory; of all experts where it has several."""
    num_experts: int = 1
    """The number of transformers, of which each denoising step goes through one."""
    num_layers: int
    """The number of transformer blocks that a pass goes through."""
    width: int
    """Values per token between the blocks."""
    head_width: int = 128
    """Values of one attention head."""
    layer_parameters_per_token: float
    """The number of linear parameters that each token passes in one layer. A two-stream block has one set for image and
    one for text tokens, and a token passes only its own."""
    text_tokens: int
    """The number of the prompt's tokens, which are joined to the image's, or attended to where `cross_attends`."""
    cross_attends: bool = False
    """Text is attended to by cross-attention instead of being joined to the image's tokens."""
    token_pixels: int = 16
    """Side, in pixels, of the square that one token stands for."""
    token_frames: int = 1
    """The number of frames that one latent frame stands for, after the first one."""
    token_channels: int = 64
    """The number of latent values that one token stands for."""
    lora_parameters_per_rank: float
    """The sum of inputs and outputs of the linear layers that LoRA adapts by default in the model's family."""
    lora_activation_bytes: float
    """The bytes that a backward pass to LoRA layers keeps of one block, per token and unit of width, in 16-bit
    values."""
    full_activation_bytes: float
    """The same where all weights are trained: the input of each linear layer is kept for its weight's gradient."""
    decoder_flops_per_pixel: float
    """Floating-point operations of the autoencoder's decoder per pixel of each frame."""
    embedding: EmbeddingProfile
    """What the text encoders make of a prompt."""
    text_encoder_parameters: float = 0.0
    """The number of parameters of all text encoders; 0 where it is not known."""
    decoder_parameters: float
    """The number of parameters of the whole autoencoder, encoder included, because it is loaded as one."""
    decoder_values_per_pixel: float
    """The number of values per pixel of each frame that a backward pass through the decoder keeps."""
    decoding: DecodingProfile
    """What exists while the autoencoder decodes."""
    decodes_in_fp32: bool = False
    """The autoencoder runs in fp32, whatever the transformer's precision."""
    source: str
    """Where the numbers come from."""

    @property
    def num_heads(self) -> int:
        return self.width // self.head_width

    def num_tokens(self, *, height: int, width: int, num_frames: int) -> int:
        """The number of tokens of one sample, without the text's."""
        latent_frames = 1 + math.ceil((num_frames - 1) / self.token_frames)
        return latent_frames * math.ceil(height / self.token_pixels) * math.ceil(width / self.token_pixels)

    def forward_flops(self, num_tokens: int) -> float:
        """Operations of one sample's pass through the transformer; `num_tokens` without the text's."""
        linear = 2 * self.layer_parameters_per_token * self._num_joined_tokens(num_tokens)
        return self.num_layers * linear + self.attention_flops(num_tokens)

    def attention_flops(self, num_tokens: int) -> float:
        """The part of `forward_flops` in scores and weighted sums, which involve no weights."""
        attention = 4 * self._num_joined_tokens(num_tokens) ** 2 * self.width
        cross_attention = 4 * num_tokens * self.text_tokens * self.width if self.cross_attends else 0
        return self.num_layers * (attention + cross_attention)

    def _num_joined_tokens(self, num_tokens: int) -> int:
        """The number of tokens that pass the linear layers, and that each of them attends to."""
        return num_tokens if self.cross_attends else num_tokens + self.text_tokens

    def cut_off_at(self, max_tokens: int, *, default: int, is_padded: bool) -> "ModelProfile":
        """The same model with prompts of at most `max_tokens`, where `text_tokens` counts prompts of at most `default`,
        all padded to it or not: the tokens of a second encoder come on top."""
        num_others = max(0, self.text_tokens - default) if is_padded else 0
        num_own = self.text_tokens - num_others
        fills_all = is_padded and num_own == default
        return replace(self, text_tokens=num_others + (max_tokens if fills_all else min(num_own, max_tokens)))

    def decoding_flops(self, *, height: int, width: int, num_frames: int) -> float:
        """Operations of decoding one sample."""
        return self.decoder_flops_per_pixel * height * width * num_frames

    def lora_parameters(self, rank: int) -> float:
        """The number of parameters of a LoRA of this rank on the family's default targets."""
        return self.lora_parameters_per_rank * rank
