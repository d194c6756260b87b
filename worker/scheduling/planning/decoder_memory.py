"""The bytes of an autoencoder and of what it decodes, on the device of the lane that decodes.

    whole      feature maps of the whole frame, and the sample as far as it is decoded
    in tiles   feature maps of one tile, and all tiles so far, which overlap; then the tiles, their blended rows, the
               sample and its clamped copy

Samples of a fragment are decoded together up to a bound (`worker.scheduling.core.decoding`). Invariant: decoding in
tiles never takes more than decoding whole samples, but for samples that feature maps are small beside.
"""

from worker.scheduling.planning.trainer_state import FP32_BYTES
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.decoding_profile import OUTPUT_CHANNELS

_COPIES_OF_BLENDED = 3
"""The blended rows, the sample made of them and its clamped copy (diffusers' `tiled_decode`)."""


def decoder_weights(work: Workload) -> float:
    """The bytes of the autoencoder's weights."""
    return work.profile.decoder_parameters * _value_bytes(work)


def decoding_bytes(work: Workload) -> float:
    """The most bytes that exist beside the weights while samples of a fragment are decoded, after the transformer's
    activations are gone."""
    decoding, height, width = work.profile.decoding, work.height, work.width
    output: float = OUTPUT_CHANNELS * work.num_pixels
    pixels, blended = height * width, 0.0
    if work.tiles_decoding and decoding.is_divided(height, width):
        pixels = decoding.largest_tile(height, width)
        tiles = output * decoding.overlap(height, width)
        output, blended = tiles, tiles + _COPIES_OF_BLENDED * output
    values = max(pixels * decoding.values_per_pixel(work.num_frames) + output, blended)
    return values * _num_decoded_together(work) * _value_bytes(work)


def kept_bytes(work: Workload) -> float:
    """The bytes that the gradient of a reward goes back through."""
    values = work.profile.decoder_values_per_pixel * work.num_pixels * work.decoding_overlap
    return work.num_units_per_micro_batch * values * _value_bytes(work)


def _num_decoded_together(work: Workload) -> int:
    return min(work.algebra.fragment_size, max(1, work.pixels_decoded_together // work.num_pixels))


def _value_bytes(work: Workload) -> int:
    return FP32_BYTES if work.profile.decodes_in_fp32 else work.weight_bytes
