"""How a trainer rank turns from training to generation, and back.

```text
to generation ─► offload idle training state; under full fine-tuning the trained weights too
              ─► allocate the generation replica
              ─► offload, in ZeRO 3, this rank's shards of the base
to training   ─► release the generation replica ─► reload what was offloaded, bit for bit
```

States are offloaded to host memory only where `deepspeed.offload_idle_states` asks for it. In ZeRO 3 allocating the
replica is a collective, so all ranks must turn together.
"""

import logging
from typing import Any

from worker.contracts.names import LaneRole, Tuning
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import LendingError
from worker.engine.trainer.policy.trained_policy import TrainedPolicy
from worker.engine.trainer.zero.state_offload import StateOffloader

logger = logging.getLogger(__name__)

MIB = 2**20


class GenerationSwitch:
    """Turns one rank, and refuses training while it generates."""

    def __init__(self, spec: RunSpec, policy: TrainedPolicy, deepspeed_engine: Any) -> None:
        """`deepspeed_engine` wraps `policy.module`."""
        self._policy = policy
        self._offloads_base = spec.deepspeed.zero_stage == 3
        # LoRA layers take too little memory for a transfer to be worth its time.
        self._offloads_trainable = spec.tuning is Tuning.FULL
        is_offloading = spec.deepspeed.offload_idle_states
        self._offloader = StateOffloader(deepspeed_engine, policy.module) if is_offloading else None
        self._role = LaneRole.TRAINER

    def switch(self, to: LaneRole) -> None:
        """Turn to generation (`to` is rollout) or back to training; open gradients are kept.

        Raises:
            LendingError: when trainer lanes of this run never generate.
        """
        if to is LaneRole.ROLLOUT and self._policy.sampler is None:
            raise LendingError(
                "a trainer lane was asked to generate, but `pipeline.placement` is not `colocated` and `pipeline.tag` "
                "is `off`: it has no generation replica"
            )
        if to is self._role:
            return
        if to is LaneRole.ROLLOUT:
            # The replica pulls trainable weights from a published version, but gathers the base from the ranks, whose
            # shards can be offloaded only afterwards.
            self._offload(with_trainable=self._offloads_trainable)
            self._policy.enter_generation()
            if self._offloads_base:
                self._offload(with_base=True)
        else:
            self._policy.leave_generation()
            self._reload()
        self._role = to

    def require_training(self, what: str) -> None:
        """Raise `LendingError` while the rank generates; `what` says what it was asked to do, as in "trains"."""
        if self._role is not LaneRole.TRAINER:
            raise LendingError(f"a lent trainer lane must be switched back before it {what}: all ranks train together")

    def _offload(self, *, with_base: bool = False, with_trainable: bool = False) -> None:
        if self._offloader is None:
            return
        transfer = self._offloader.offload(with_base=with_base, with_trainable=with_trainable)
        if transfer.num_bytes:
            logger.info("offloaded %.1f MiB to the host in %.3f s", transfer.num_bytes / MIB, transfer.seconds)

    def _reload(self) -> None:
        if self._offloader is None:
            return
        transfer = self._offloader.reload()
        logger.info("reloaded %.1f MiB to the device in %.3f s", transfer.num_bytes / MIB, transfer.seconds)
