"""What is called of DeepSpeed's accelerator exists in that of cards. DeepSpeed's of the CPU, which stands in for it
where there is no card, has methods of its own, and code behind a check for a CPU does not run there at all."""

import re
from pathlib import Path

import pytest
from deepspeed.accelerator.abstract_accelerator import DeepSpeedAccelerator
from deepspeed.accelerator.cuda_accelerator import CUDA_Accelerator

ROOT = Path(__file__).parents[3]
FOLDERS = ("worker", "tests/bench", "tests/gpu")
CALL = re.compile(r"(?:get_accelerator\(\)|\baccelerator)\.(\w+)\(")


def called_methods() -> dict[str, str]:
    """By name, a file that calls it."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    sources = {file: file.read_text() for file in files}
    return {
        name: str(file.relative_to(ROOT))
        for file, source in sources.items()
        if "import get_accelerator" in source
        for name in CALL.findall(source.replace("torch.accelerator", ""))
    }


@pytest.mark.parametrize("of", [CUDA_Accelerator, DeepSpeedAccelerator], ids=["NVIDIA and AMD", "any"])
def test_every_method_that_is_called_is_one_of_a_cards_accelerator(of: type[DeepSpeedAccelerator]) -> None:
    called = called_methods()
    assert {"synchronize", "stream", "pin_memory"} <= called.keys()
    assert {name: file for name, file in called.items() if not hasattr(of, name)} == {}
