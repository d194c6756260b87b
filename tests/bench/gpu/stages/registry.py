"""All stages in the order in which they run: what later ones need, and what tells most, comes first."""

from collections.abc import Mapping

from tests.bench.gpu.stage_runner import StageRun
from tests.bench.gpu.stages import ceilings, forward

STAGES: Mapping[str, StageRun] = {
    "ceilings": ceilings.run,
    "forward": forward.run,
}
"""By name, as in `stage_budgets.BUDGETS`; a test equates the two."""
