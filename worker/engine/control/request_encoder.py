"""Has the prompts of sample requests encoded on the CPU of every node that draws them, before any lane is asked to.

A lane would do so itself, on its CPU too, prompt by prompt and while its device waits. Here a process beside the lanes
encodes all of a request, for every lane of its node.
"""

import logging
from collections.abc import Sequence

import ray
from ray import ObjectRef
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.control.cluster_lanes import ClusterLanes

logger = logging.getLogger(__name__)


class RequestEncoder:
    """Encodes one request at a time."""

    def __init__(self, answer: BootstrapAnswer, lanes: ClusterLanes, prompts: Sequence[Prompt]) -> None:
        """
        Args:
            answer: the run's bootstrap answer.
            lanes: those whose nodes are asked.
            prompts: the run's, which are encoded already.
        """
        self._answer, self._lanes = answer, lanes
        self._known = {prompt.text for prompt in (*prompts, *answer.spec.evaluation.prompts)}
        self._under_way: list[ObjectRef] | None = None

    def is_done(self, prompts: Sequence[Prompt]) -> bool:
        """Whether every node has encoded `prompts`, or has failed to, which leaves them to its lanes. The first call
        begins it; it is called again until it is done."""
        if self._under_way is None:
            self._under_way = self._begin(prompts)
        if self._under_way:
            done, self._under_way = ray.wait(self._under_way, num_returns=len(self._under_way), timeout=0)
            for ref in done:
                _check(ref)
        if self._under_way:
            return False
        self._under_way = None
        return True

    def _begin(self, prompts: Sequence[Prompt]) -> list[ObjectRef]:
        texts = dict.fromkeys(text for prompt in prompts for text in (prompt.text, prompt.negative) if text)
        new = [text for text in texts if text not in self._known]
        generating = [*self._lanes.names(LaneRole.ROLLOUT), *self._lanes.names(LaneRole.TRAINER)]
        located = [self._lanes[lane].location for lane in generating]
        nodes = {location.node_id for location in located if location is not None} if new else set()
        # A process of its own, which ends with its memory.
        task = ray.remote(num_cpus=0, max_retries=0, max_calls=1)(_encode_here)
        return [
            task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(
                self._answer.spec, self._answer.base_model_path, new
            )
            for node in sorted(nodes)
        ]


def _check(ref: ObjectRef) -> None:
    try:
        ray.get(ref)
    except RayError as error:
        logger.warning("a node did not encode the prompts of a request, its lanes will: %s", error)


def _encode_here(spec: RunSpec, base_model_path: str, texts: Sequence[str]) -> None:
    """Encode `texts` into this node's store, with as many threads as a lane here has."""
    from worker.engine.devices.cpu_threads import num_accelerators, threads_of_lane
    from worker.engine.devices.visibility import see_only

    see_only("cpu")
    import torch

    from worker.engine.models.prompt_encoding import encode_on_cpu

    torch.set_num_threads(threads_of_lane(on_accelerator=num_accelerators() > 0))
    encode_on_cpu(spec, base_model_path, texts)
