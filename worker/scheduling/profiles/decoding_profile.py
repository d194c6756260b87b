"""What exists on a device while an autoencoder decodes a sample, whole or in tiles.

Values per pixel are traced on diffusers' classes with published configurations, without memory behind them
(`tests/scheduling/profiles/test_decoding_peaks.py`). Workspaces of convolutions are not among them.
"""

import math
from dataclasses import dataclass

OUTPUT_CHANNELS = 3
"""Values per pixel of a decoded sample: red, green, blue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingProfile:
    """The feature maps of an autoencoder's decoder, and the tiles that diffusers divides samples into."""

    first_frame_values: float
    """The most values that exist at once per pixel of a picture, or of a clip's first frame."""
    further_frame_values: float = 0.0
    """The same for each further frame that is decoded with it."""
    frames_at_once: int = 1
    """The number of frames that are decoded at once, the first one included; a longer clip is decoded piece by
    piece."""
    tile: int
    """Side of a tile, in pixels."""
    stride: int
    """Pixels from one tile to the next, which overlap."""

    def values_per_pixel(self, num_frames: int) -> float:
        """The most values that exist at once per pixel of a frame, the decoded sample left out."""
        num_further = min(num_frames, self.frames_at_once) - 1
        return self.first_frame_values + num_further * self.further_frame_values

    def is_divided(self, height: int, width: int) -> bool:
        """Whether a sample has more than one tile."""
        return max(height, width) > self.tile

    def largest_tile(self, height: int, width: int) -> int:
        """Pixels of the largest tile of a frame."""
        return min(height, self.tile) * min(width, self.tile)

    def overlap(self, height: int, width: int) -> float:
        """Pixels of all tiles ÷ pixels of the sample: 1 where it is not divided, up to (tile ÷ stride)²."""
        if not self.is_divided(height, width):
            return 1.0
        return self._pixels_of_tiles(height) * self._pixels_of_tiles(width) / (height * width)

    def _pixels_of_tiles(self, side: int) -> int:
        starts = (number * self.stride for number in range(math.ceil(side / self.stride)))
        return sum(min(self.tile, side - start) for start in starts)


# `AutoencoderKL` and `AutoencoderKLFlux2`: tiles are the `sample_size` of their configurations, 1024, and overlap by a
# quarter. Input, output and one intermediate of 256 channels exist at once.
KL_DECODING = DecodingProfile(first_frame_values=3 * 256, tile=1024, stride=768)
# `AutoencoderKLQwenImage`: the picture is a clip of one frame, whose convolutions pad and keep their inputs.
QWEN_DECODING = DecodingProfile(first_frame_values=1738, tile=256, stride=192)
# `AutoencoderKLWan`: one latent frame after the other, 4 frames each, with kept inputs of every convolution.
WAN_DECODING = DecodingProfile(
    first_frame_values=1738, further_frame_values=840, frames_at_once=5, tile=256, stride=192
)
WAN22_5B_DECODING = DecodingProfile(
    first_frame_values=1461, further_frame_values=995, frames_at_once=5, tile=256, stride=192
)
# `AutoencoderKLHunyuanVideo`: 5 latent frames at once, whether or not frames are divided into tiles.
HUNYUAN_DECODING = DecodingProfile(
    first_frame_values=1496, further_frame_values=1144, frames_at_once=17, tile=256, stride=192
)
