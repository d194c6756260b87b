"""The files of a sample: a picture as PNG; a clip as WebM, which browsers play, with a poster picture.

Invariant: the same sample gives the same bytes, so that the web recognises a repeated upload by its checksum.
"""

import io
import zlib
from fractions import Fraction
from typing import Final

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace
from PIL import Image

CLIP_ENDING: Final = "webm"
PICTURE_ENDING: Final = "png"

COMPRESSION: Final = zlib.Z_RLE
"""zlib's strategy for the data of PNGs (https://zlib.net/manual.html): two thirds of the default one's seconds, for
pictures of the demo, and no more bytes."""
CLIP_CODEC = "libvpx-vp9"
"""A codec that is free of royalties and that Chromium, Firefox and Safari all play."""
PIXEL_FORMAT = "yuv420p"
"""The only pixel format of VP9 that all of them play."""
CLIP_OPTIONS = {"crf": "18", "b": "0", "deadline": "good", "cpu-used": "4"}
"""Constant quality (`crf`, with no bit rate) high enough that artefacts of the codec are not taken for the model's."""


def is_clip(sample: np.ndarray) -> bool:
    """Whether a sample is a clip (F, H, W, 3), not a picture (H, W, 3)."""
    return sample.ndim == 4


def encode_png(picture: np.ndarray) -> bytes:
    """A picture (H, W, 3) uint8 as PNG bytes."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="PNG", compress_type=COMPRESSION)
    return buffer.getvalue()


def encode_poster(clip: np.ndarray) -> bytes:
    """The first frame of a clip (F, H, W, 3) uint8 as PNG bytes, which is shown until the clip plays."""
    return encode_png(clip[0])


def encode_clip(clip: np.ndarray, fps: float) -> bytes:
    """A clip (F, H, W, 3) uint8 as WebM bytes.

    Raises:
        ValueError: height or width is odd, which the codec's half-resolution colour planes do not allow.
    """
    height, width = clip.shape[1:3]
    if height % 2 or width % 2:
        raise ValueError(
            f"a clip must have even height and width, got {height} × {width}: colour is stored at half the resolution"
        )
    buffer = io.BytesIO()
    # Without `bitexact` the file carries a random id and the library's version.
    with av.open(buffer, "w", format=CLIP_ENDING, container_options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream(CLIP_CODEC, rate=Fraction(fps).limit_denominator(1001), options=CLIP_OPTIONS)
        assert isinstance(stream, av.VideoStream), "`CLIP_CODEC` is a video codec"
        stream.width, stream.height, stream.pix_fmt = width, height, PIXEL_FORMAT
        # Browsers guess the matrix of an unlabelled file from its size.
        stream.codec_context.colorspace, stream.codec_context.color_range = Colorspace.ITU709, ColorRange.MPEG
        stream.codec_context.thread_count = 1
        for frame in clip:
            container.mux(stream.encode(_video_frame(frame)))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def _video_frame(frame: np.ndarray) -> av.VideoFrame:
    """A frame (H, W, 3) uint8 in the codec's colour space."""
    rgb = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
    return rgb.reformat(format=PIXEL_FORMAT, dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG)
