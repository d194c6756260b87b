"""`python -m worker.engine.end_lanes`, a job of the web: ends the lanes that a lost driver has left.

So the pool can give their GPUs to others at once; by themselves they would end within `MAX_UNATTENDED_SECONDS`.
"""

import logging
import os

import ray

from worker.contracts.left_lanes import LEFT_LANES_VARIABLE, LeftLanes
from worker.engine.control.surviving_lanes import NAMESPACE, end_left_lanes


def main() -> None:
    """End the lanes that the environment names."""
    logging.basicConfig(level=logging.INFO)
    left = LeftLanes.model_validate_json(os.environ[LEFT_LANES_VARIABLE])
    ray.init(address="auto", namespace=NAMESPACE, log_to_driver=False)
    end_left_lanes(left)


if __name__ == "__main__":
    main()
