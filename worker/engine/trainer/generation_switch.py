"""A trainer rank's turn from training to generation and back.

```text
to generation ─► to the host: idle state; trained weights, if they are all weights
              ─► twin filled
              ─► to the host, in ZeRO 3: the rank's part of the base
to training   ─► twin emptied ─► everything back in place, bit for bit
```

To the host only where the spec asks for it. In ZeRO 3 filling the twin is a collective: the ranks are lent together.
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
    def __init__(self, spec: RunSpec, policy: TrainedPolicy, engine: Any) -> None:
        """`engine` is DeepSpeed's, around the policy's module."""
        self._policy = policy
        self._with_base = spec.deepspeed.zero_stage == 3
        # LoRA layers are too small to be worth the way.
        self._with_trained = spec.tuning is Tuning.FULL
        self._idle = StateOffloader(engine, policy.module) if spec.deepspeed.offload_idle_states else None
        self._serves = LaneRole.TRAINER

    def switch(self, to: LaneRole) -> None:
        """Turn to generation (`to` is rollout) or back; open gradients stay as they are.

        Raises:
            LendingError: when the run was set up without lending.
        """
        if to is LaneRole.ROLLOUT and self._policy.generator is None:
            raise LendingError(
                "a trainer lane was told to generate, but `pipeline.placement` is not `colocated` and `pipeline.tag` "
                "is `off`: it holds no twin to generate with"
            )
        if to is self._serves:
            return
        if to is LaneRole.ROLLOUT:
            # The twin takes trained weights from what was published, and the base from what the ranks hold.
            self._offload(with_trained=self._with_trained)
            self._policy.lend(to_generation=True)
            if self._with_base:
                self._offload(with_base=True)
        else:
            self._policy.lend(to_generation=False)
            self._reload()
        self._serves = to

    def require_training(self, what: str) -> None:
        """Raises `LendingError` while the rank generates."""
        if self._serves is not LaneRole.TRAINER:
            raise LendingError(f"a lent trainer lane must be switched back before it {what}: the gang must be whole")

    def _offload(self, *, with_base: bool = False, with_trained: bool = False) -> None:
        if self._idle is None:
            return
        moved = self._idle.offload(with_base=with_base, with_trained=with_trained)
        if moved.num_bytes:
            logger.info("moved %.1f MiB to the host in %.3f s", moved.num_bytes / MIB, moved.seconds)

    def _reload(self) -> None:
        if self._idle is None:
            return
        moved = self._idle.reload()
        logger.info("moved %.1f MiB back to the device in %.3f s", moved.num_bytes / MIB, moved.seconds)
