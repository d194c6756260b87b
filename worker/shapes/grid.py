"""Lay pictures out on one sheet, rows by columns, enlarged so that 32x32 pixels can be judged by eye."""

from pathlib import Path

import numpy as np
from PIL import Image

from worker.shapes.drawing import ByteArray

_GAP = 2
_GAP_RGB = 255
_NUM_COLOURS = 128


def contact_sheet(pictures: ByteArray, num_columns: int, enlarge: int = 3) -> ByteArray:
    """Pictures (N, H, W, 3) as one sheet with `num_columns` columns, row by row.

    Raises:
        ValueError: when N is no multiple of `num_columns`.
    """
    num = len(pictures)
    if num_columns < 1 or num % num_columns:
        raise ValueError(
            f"`num_columns` must divide the number of pictures {num}, got {num_columns}: the sheet has no empty cells"
        )
    big = pictures.repeat(enlarge, axis=1).repeat(enlarge, axis=2)
    framed = np.pad(big, ((0, 0), (0, _GAP), (0, _GAP), (0, 0)), constant_values=_GAP_RGB)
    rows = framed.reshape(num // num_columns, num_columns, *framed.shape[1:])
    sheet: ByteArray = rows.transpose(0, 2, 1, 3, 4).reshape(
        len(rows) * framed.shape[1], num_columns * framed.shape[2], 3
    )
    return sheet


def save_contact_sheet(path: Path, pictures: ByteArray, num_columns: int, enlarge: int = 3) -> None:
    """Write `contact_sheet` to `path` as PNG of a small palette: exact pixels would cost four times the bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(contact_sheet(pictures, num_columns, enlarge)).quantize(_NUM_COLOURS).save(path, optimize=True)
