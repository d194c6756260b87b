"""Has the prompts of sample requests encoded on the CPU of every node that draws them, before any lane is asked to.

A lane would do so itself, on its CPU too, call by call and while its device waits. Here a process beside the lanes
encodes the prompts of all requests that wait, for every lane of its node. Invariants: text encoders are loaded once for
what is asked together, and not again for what a node has encoded; a request waits for no process longer than
`encoding_limit`.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import ray
from ray import ObjectRef
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.control.unplanned_limits import encoding_limit
from worker.scheduling.planning.stored_embeddings import known_texts
from worker.scheduling.planning.workload import Workload

logger = logging.getLogger(__name__)


class RequestEncoder:
    """Has nodes encode what is asked together, one such set at a time."""

    def __init__(
        self,
        answer: BootstrapAnswer,
        lanes: ClusterLanes,
        prompts: Sequence[Prompt],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            answer: the run's bootstrap answer.
            lanes: those whose nodes are asked.
            prompts: the run's, which are encoded already.
            clock: as `time.monotonic`.
        """
        self._answer, self._lanes, self._clock = answer, lanes, clock
        self._work = Workload.of(answer.spec)
        self._known = frozenset(known_texts(answer.spec, prompts))
        self._encoded: dict[str, set[str]] = defaultdict(set)
        """What each node has encoded since, by Ray's id."""
        self._under_way: dict[ObjectRef, _NodeTexts] | None = None

    def is_done(self, prompts: Sequence[Prompt]) -> bool:
        """Whether every node has encoded `prompts`, or has failed to in time, which leaves them to its lanes. The first
        call begins it; it is called again until it is done."""
        if self._under_way is None:
            self._under_way = self._begin(prompts)
        if self._under_way:
            done, _ = ray.wait(list(self._under_way), num_returns=len(self._under_way), timeout=0)
            for ref in done:
                self._take(ref, self._under_way.pop(ref))
            for ref in [ref for ref, wanted in self._under_way.items() if self._clock() >= wanted.deadline]:
                self._give_up(ref, self._under_way.pop(ref))
        if self._under_way:
            return False
        self._under_way = None
        return True

    def _begin(self, prompts: Sequence[Prompt]) -> "dict[ObjectRef, _NodeTexts]":
        default = self._answer.spec.sampling.negative_prompt
        texts = dict.fromkeys(text for prompt in prompts for text in (prompt.text, prompt.negative_or(default)))
        new = [text for text in texts if text not in self._known]
        generating = [*self._lanes.names(LaneRole.ROLLOUT), *self._lanes.names(LaneRole.TRAINER)]
        located = [self._lanes[lane].location for lane in generating]
        nodes = {location.node_id for location in located if location is not None}
        wanted = [
            self._wanted(node, [text for text in new if text not in self._encoded[node]]) for node in sorted(nodes)
        ]
        return {self._encode_on(one): one for one in wanted if one.texts}

    def _wanted(self, node: str, texts: list[str]) -> "_NodeTexts":
        from_hub = not Path(self._answer.base_model_path).is_dir()
        limit = encoding_limit(self._work, len(texts), from_hub=from_hub)
        return _NodeTexts(node, texts, limit, deadline=self._clock() + limit)

    def _encode_on(self, wanted: "_NodeTexts") -> ObjectRef:
        # A process of its own, which ends with its memory.
        task = ray.remote(num_cpus=0, max_retries=0, max_calls=1)(_encode_here)
        there = NodeAffinitySchedulingStrategy(wanted.node, soft=False)
        ref: ObjectRef = task.options(scheduling_strategy=there).remote(
            self._answer.spec, self._answer.base_model_path, wanted.texts
        )
        return ref

    def _take(self, ref: ObjectRef, wanted: "_NodeTexts") -> None:
        try:
            ray.get(ref)
        except RayError as error:
            logger.warning("a node did not encode the prompts of a request, its lanes will: %s", error)
        else:
            self._encoded[wanted.node].update(wanted.texts)

    def _give_up(self, ref: ObjectRef, wanted: "_NodeTexts") -> None:
        ray.cancel(ref, force=True)
        logger.warning(
            "a node did not encode the %d texts of a request within %.0f s, its lanes will: its process is ended",
            len(wanted.texts),
            wanted.limit,
        )


@dataclass(frozen=True, slots=True)
class _NodeTexts:
    """Texts that a node is to encode."""

    node: str
    texts: list[str]
    limit: float
    """Seconds that it may take."""
    deadline: float
    """On the encoder's clock."""


def _encode_here(spec: RunSpec, base_model_path: str, texts: Sequence[str]) -> None:
    """Encode `texts` into this node's store, with as many threads as a lane here has."""
    from worker.engine.devices.cpu_threads import num_accelerators, threads_of_lane
    from worker.engine.devices.visibility import see_only

    see_only("cpu")
    import torch

    from worker.engine.models.prompt_encoding import encode_on_cpu

    torch.set_num_threads(threads_of_lane(on_accelerator=num_accelerators() > 0))
    encode_on_cpu(spec, base_model_path, texts)
