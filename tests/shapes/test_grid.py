import numpy as np
import pytest

from worker.shapes.grid import contact_sheet


def test_pictures_lie_row_by_row_with_a_gap_between_them() -> None:
    pictures = np.zeros((4, 2, 2, 3), dtype=np.uint8)
    pictures[:, ...] = np.array([10, 20, 30, 40], dtype=np.uint8)[:, None, None, None]
    sheet = contact_sheet(pictures, num_columns=2, enlarge=1)
    assert sheet.shape == (8, 8, 3)
    assert sheet[:, :, 0][[0, 0, 4, 4], [0, 4, 0, 4]].tolist() == [10, 20, 30, 40]
    assert sheet[2, 2, 0] == 255


def test_an_incomplete_row_is_refused() -> None:
    with pytest.raises(ValueError, match="num_columns"):
        contact_sheet(np.zeros((3, 2, 2, 3), dtype=np.uint8), num_columns=2)
