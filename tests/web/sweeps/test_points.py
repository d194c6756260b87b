"""The points of whole plans: of the guide's example, and drawn again."""

from pathlib import Path

import pytest

from accounts.models import Project
from sweeps.points import checked_points
from sweeps.rungs import rungs
from sweeps.sweep_plan import read_plan
from tests.web.sweeps.swept_runs import plan

pytestmark = pytest.mark.django_db
GUIDE = Path(__file__).resolve().parents[3] / "deploy" / "docs" / "guides" / "sweeps.md"


def test_the_example_of_the_guide_makes_its_points_with_rungs_on_evaluations(project: Project) -> None:
    example = read_plan(GUIDE.read_text().partition("```yaml\n")[2].partition("```")[0])
    found = checked_points(example, project)
    assert (len(found.points), set(found.num_samples)) == (10, {20 * 96})
    of_batches = [rung / 96 for rung in rungs(example.pruner, 20 * 96)]
    assert of_batches == [2, 6, 18]
    assert all(batch % example.spec["evaluation"]["every_num_batches"] == 0 for batch in of_batches)


def test_draws_have_no_point_twice_and_follow_from_the_seed(project: Project) -> None:
    asked = plan(
        space={"lora.rank": {"kind": "int", "low": 1, "high": 8}},
        sampler={"kind": "random", "num_points": 6, "seed": 3},
    )
    first, second = (checked_points(read_plan(asked), project).points for _ in range(2))
    assert first == second
    assert len({point["lora.rank"] for point in first}) == 6
