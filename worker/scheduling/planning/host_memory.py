"""The bytes of a node's own memory that a run takes beside its processes and Ray's object store.

    text encoders   of prompts that come while the run works, which one process of each node encodes; of all prompts,
                    before any policy is loaded, where the devices of lanes have no room for text encoders
    offloaded       state of trainer lanes that DeepSpeed keeps there, and the memory through which they publish

Invariant: it is the most that so many lanes of a node take; fewer lanes never take more.
"""

from dataclasses import dataclass

from worker.scheduling.planning.memory import encodes_on, host_bytes, staged_bytes
from worker.scheduling.planning.stored_embeddings import num_claims
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, Accelerator


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMemory:
    """Bytes of one node at the moment when a run takes most of them."""

    text_encoders: float
    offloaded: float = 0.0
    """What trainer lanes offload, and pin to publish."""

    @property
    def total(self) -> float:
        return self.text_encoders + self.offloaded


def host_memory(work: Workload, device: Accelerator, *, num_lanes: int, num_texts: int) -> HostMemory:
    """What a node takes at most.

    Args:
        work: the run's.
        device: of the node's lanes.
        num_lanes: those of the node that the run has.
        num_texts: the texts that the run encodes before it begins.
    """
    working = HostMemory(
        text_encoders=work.text_encoder_bytes,
        offloaded=min(num_lanes, work.num_trainer_lanes) * _offloaded(work, device),
    )
    if encodes_on_device(work, device):
        return working
    encoding = HostMemory(text_encoders=work.text_encoder_bytes * min(num_lanes, num_claims(num_texts)))
    return max(working, encoding, key=lambda memory: memory.total)


def encodes_on_device(work: Workload, device: Accelerator) -> bool:
    """Whether lanes with such a device encode the run's prompts there, not in the node's memory."""
    return device.name != CPU_CORE.name and encodes_on(work, device, generates=True)


def _offloaded(work: Workload, device: Accelerator) -> float:
    """By one trainer lane."""
    num_ranks = work.num_trainer_lanes
    staged = 0.0 if device.name == CPU_CORE.name else staged_bytes(work, num_ranks=num_ranks)
    return host_bytes(work, device, num_ranks=num_ranks) + staged
