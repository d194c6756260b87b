"""A reward lane's process beside another on its card: `python -m tests.bench.gpu.neighbour_scorer REWARD WEIGHTS NUMBER
SIDE`, and `NeighbourScorer`, which starts one.

Each line of standard input is a number of seconds, through which it scores `NUMBER` pictures again and again; its
answer is a line with the pictures scored and the seconds they took. Before the first it says that it is ready.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import RewardSpec
from worker.contracts.scorer_access import NO_ACCESS

ROOT = Path(__file__).resolve().parents[3]
READY = "ready"


class NeighbourScorer:
    """A second process that scores, for as long as this is open."""

    def __init__(self, name: RewardName, weights: Path, *, number: int, side: int) -> None:
        """Start it, and wait until its network is loaded and has scored once."""
        arguments = [name.value, str(weights), str(number), str(side)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, *arguments],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        if (said := self._line()) != READY:
            raise RuntimeError(f"the second process must say `{READY}` once it can score, got {said!r}")

    def begin(self, seconds: float) -> None:
        """Have it score for so long; `end` waits for its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()

    def end(self) -> float:
        """Pictures that it has scored per second since `begin`."""
        pictures, seconds = map(float, self._line().split())
        return pictures / seconds

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


def main(name: str, weights: str, number: int, side: int) -> None:
    # Libraries write what they have to say to standard output too.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from worker.engine.reward.registry import build_reward

    settings = {"weights": weights} | ({"processor": weights} if name == RewardName.PICK_SCORE else {})
    reward = build_reward(RewardSpec.model_validate({"name": name, "settings": settings}), NO_ACCESS)
    pictures = np.random.default_rng(0).integers(0, 256, size=(number, side, side, 3), dtype=np.uint8)
    prompts = [Prompt(text="a lighthouse")] * number
    reward.score(pictures, prompts)
    print(READY, file=answers, flush=True)
    for line in sys.stdin:
        began, scored = time.monotonic(), 0
        while time.monotonic() - began < float(line):
            reward.score(pictures, prompts)
            scored += number
        print(scored, time.monotonic() - began, file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
