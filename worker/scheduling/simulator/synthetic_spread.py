"""Which groups are without spread where no reward is computed: in simulated and in emulated runs.

Invariant: it depends on batch, group and draw alone, so both kinds of run, in every mode, agree on each group.
"""

import hashlib

from worker.scheduling.core.messages import Fragment


def has_synthetic_spread(fragment: Fragment, share_without: float) -> bool:
    """Whether the draw of a group that `fragment` belongs to has spread, where `share_without` (0 to 1) of all draws
    have none."""
    if not share_without:
        return True
    key = fragment.key
    digest = hashlib.blake2b(f"{key.batch}/{key.group}/{fragment.draw}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64 >= share_without
