"""All stages in the order in which they run: what later ones need, and what tells most, comes first."""

from collections.abc import Mapping

from tests.bench.gpu.stage_runner import StageRun
from tests.bench.gpu.stages import (
    broadcasts,
    ceilings,
    compiled,
    decoding,
    families,
    forward,
    gate_statistics,
    gpu_tests,
    offload,
    ranks,
    scorers,
    shared_card,
    spread,
    training,
    transport,
    versions,
)

STAGES: Mapping[str, StageRun] = {
    "ceilings": ceilings.run,
    "gpu_tests": gpu_tests.run,
    "forward": forward.run,
    "training": training.run,
    "gate": gate_statistics.run,
    "versions": versions.run,
    "offload": offload.run,
    "decoding": decoding.run,
    "families": families.run,
    "scorers": scorers.run,
    "shared_card": shared_card.run,
    "transport": transport.run,
    "compiled": compiled.run,
    "broadcasts": broadcasts.run,
    "ranks": ranks.run,
    "spread": spread.run,
}
"""By name, as in `stage_budgets.BUDGETS`; a test equates the two."""
