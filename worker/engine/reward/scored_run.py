"""What a scorer knows of its run beyond its own settings, for the figures of the plan where its device has too little
memory. It imports no torch, which a lane loads only for networks."""

from dataclasses import dataclass

from worker.contracts.run_spec import RunSpec


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run, as seen from one reward lane."""

    spec: RunSpec
    num_gpus: int = 1
    """Of the lane whose card the reward lane shares; 1 where it shares none."""
