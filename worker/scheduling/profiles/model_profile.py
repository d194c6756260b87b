"""How a model is described for planning: tokens, floating-point operations, bytes. No seconds here.

Formulas: a linear layer costs 2 operations for each parameter and token; attention 4 · tokens² · width for each layer
(scores and weighted sum). `profiles` holds the models.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """A diffusion transformer with its autoencoder."""

    name: str
    hub_names: tuple[str, ...] = ()
    """What the last part of a path begins with, in lower case."""
    parameters: float
    """All of the transformer's, as memory holds them; of all experts where it has several."""
    num_experts: int = 1
    """Transformers of which each denoising step goes through one."""
    num_layers: int
    """That a pass goes through."""
    width: int
    layer_parameters_per_token: float
    """Linear parameters that each token passes in one layer: a two-stream block has a set for pictures and one for
    text, and a token passes one of them."""
    text_tokens: int
    """Tokens of the prompt; joined to the picture's, or attended to across where `cross_attends`."""
    cross_attends: bool = False
    token_pixels: int = 16
    """Side of the square of pixels that one token stands for."""
    token_frames: int = 1
    """Frames that one latent frame stands for, after the first."""
    token_channels: int = 64
    """Numbers of the latent that one token stands for."""
    lora_parameters_per_rank: float
    """Sum of inputs and outputs of the linear layers that the family adapts where a spec names none."""
    decoder_flops_per_pixel: float
    """Of the autoencoder, for each pixel of each frame."""
    decoder_parameters: float
    """Of the whole autoencoder, which is loaded as one."""
    decoder_values_per_pixel: float
    """That a backward pass through the decoder needs, for each pixel of each frame."""
    decodes_in_fp32: bool = False
    """Whatever the base's precision."""
    source: str

    def num_tokens(self, *, height: int, width: int, num_frames: int) -> int:
        """Tokens of one sample, without the text."""
        latent_frames = 1 + math.ceil((num_frames - 1) / self.token_frames)
        return latent_frames * math.ceil(height / self.token_pixels) * math.ceil(width / self.token_pixels)

    def forward_flops(self, num_tokens: int) -> float:
        """Of one sample's pass through the transformer, `num_tokens` being the picture's."""
        linear = 2 * self.layer_parameters_per_token * self._keys(num_tokens)
        return self.num_layers * linear + self.attention_flops(num_tokens)

    def attention_flops(self, num_tokens: int) -> float:
        """What of them is attention: scores and weighted sums, which have no weights."""
        attention = 4 * self._keys(num_tokens) ** 2 * self.width
        across = 4 * num_tokens * self.text_tokens * self.width if self.cross_attends else 0
        return self.num_layers * (attention + across)

    def _keys(self, num_tokens: int) -> int:
        """Tokens that pass the linear layers, and that each of them attends to."""
        return num_tokens if self.cross_attends else num_tokens + self.text_tokens

    def decoding_flops(self, *, height: int, width: int, num_frames: int) -> float:
        return self.decoder_flops_per_pixel * height * width * num_frames

    def lora_parameters(self, rank: int) -> float:
        return self.lora_parameters_per_rank * rank
