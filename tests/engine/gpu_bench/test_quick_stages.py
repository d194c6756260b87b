"""The stages of the GPU bench run on tiny shapes, by the same code as on a card."""

from tests.bench.gpu.plan_table import plan_table
from tests.bench.gpu.stages import ceilings, forward
from tests.engine.gpu_bench.conftest import RunStages


def test_ceilings_and_forward_passes_are_measured(run_quickly: RunStages) -> None:
    report = run_quickly({"ceilings": ceilings.run, "forward": forward.run})
    assert [stage["status"] for stage in report.stages.values()] == ["done", "done"]
    shipped, kinds, plain, *_ = report.rows("forward")
    assert 0 < shipped["seconds"] < shipped["first_call_seconds"] + 1 and plain["seconds"] > 0
    assert kinds["products_seconds"] > 0 and kinds["kernels"] > 100
    assert "mfu" not in shipped, "a rate of tiny shapes on a CPU would be taken for a measurement"
    assert "forward 32×32 × 2" in plan_table(report)
