"""Checks of what a run reads: base model, rewards' weights and scorers, prompts. The spec has passed `check_spec`.

Weights are read by the lanes, each on its own node, and no node tells which files it has. What is known here: this
machine's own folders, and the nodes on which a run has already trained the same model.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from catalog.base_models import resolve_base_model, resolve_weights
from catalog.scorers import named_weights
from fleet.lane_layout import LOCAL_NODE
from fleet.models import LaneUse
from fleet.selectors import nodes_in_service
from runs.models import Run
from runs.start_checks.check_rows import Check, CheckName, CheckState
from runs.start_checks.sizes import size_text
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import RemoteSettings, RewardSpec
from worker.contracts.run_spec import RunSpec

MAX_RUNS_SEARCHED = 200
"""The newest runs with a batch done whose specs are searched for the same base model."""


def model_check(spec: RunSpec) -> Check:
    """Whether the nodes of the pool can read the base model."""
    path = spec.base_model.path
    resolved = resolve_base_model(path)
    nodes = nodes_in_service(spec.lanes.pool)
    unseen = sorted(set(nodes) - _nodes_that_trained(path))
    if not nodes:
        return _model(
            CheckState.UNKNOWN, f"The pool {spec.lanes.pool} has no node in service that could read `{path}`."
        )
    if not unseen:
        return _model(CheckState.FINE, f"Runs have trained `{path}` on every node of the pool ({len(nodes)}).")
    where = f"No run has trained it on {_named(unseen)} yet"
    if resolved == path:
        text = f"`{path}` is a hub id. {where}: each node downloads it unless it is in the node's cache."
        return _model(CheckState.UNKNOWN, text, "Download it on the nodes before, or let them reach the hub.")
    size = sum(file.stat().st_size for file in Path(resolved).rglob("*.safetensors"))
    if unseen == [LOCAL_NODE]:
        return _model(CheckState.FINE, f"`{path}` is a folder of this machine, whose lanes read it: {size_text(size)}.")
    text = f"This machine has `{path}` ({size_text(size)}). {where}: which files it has cannot be seen from here."
    return _model(CheckState.UNKNOWN, text, "Make sure that a folder of TANDEM_MODEL_ROOTS holds it there, too.")


def _model(state: CheckState, text: str, remedy: str = "") -> Check:
    return Check(CheckName.MODEL, state, text, remedy, "" if state is CheckState.FINE else "base_model.path")


def _nodes_that_trained(path: str) -> set[str]:
    """Names of the nodes on which a run of the base model has finished a batch."""
    newest = Run.objects.filter(num_batches_done__gt=0).order_by("-created_at").values("pk")[:MAX_RUNS_SEARCHED]
    same = Run.objects.filter(pk__in=list(newest.values_list("pk", flat=True)), spec__base_model__path=path)
    uses = LaneUse.objects.filter(run_id__in=list(same.values_list("pk", flat=True)), lane__isnull=False)
    return set(uses.order_by().values_list("lane__node__name", flat=True).distinct())


def rewards_check(spec: RunSpec) -> Check:
    """Whether the reward lanes can read and reach what the rewards need."""
    found = [row for place, reward in enumerate(spec.rewards) for row in _reward_findings(place, reward)]
    if not found:
        names = ", ".join(reward.name for reward in spec.rewards)
        return Check(CheckName.REWARDS, CheckState.FINE, f"{names}: computed on the reward lanes, without weights.")
    unknown = [row for row in found if row.state is CheckState.UNKNOWN]
    first = (unknown or found)[0]
    return Check(CheckName.REWARDS, first.state, " ".join(row.text for row in found), first.remedy, first.path)


def _reward_findings(place: int, reward: RewardSpec) -> Iterator[Check]:
    settings = reward.settings
    if isinstance(settings, RemoteSettings):
        host = urlsplit(settings.url).netloc
        secret = f" with the secret `{settings.secret}`, which may be sent there" if settings.secret else ""
        yield Check(
            CheckName.REWARDS,
            CheckState.UNKNOWN,
            f"{reward.label or reward.name} asks {host}{secret}: only the reward lanes can tell whether they reach it.",
            "The run asks it once before its first batch, and fails with its answer.",
            f"rewards.{place}.settings.url",
        )
    for field, value in named_weights(reward).items():
        is_hub_id = resolve_weights(value) == value
        yield Check(
            CheckName.REWARDS,
            CheckState.UNKNOWN if is_hub_id else CheckState.FINE,
            f"`{value}` of {reward.label or reward.name} is "
            + ("a hub id: reward lanes download it unless it is in their cache." if is_hub_id else "a folder here."),
            "Download it on the nodes before, or let them reach the hub." if is_hub_id else "",
            f"rewards.{place}.settings.{field}",
        )


def prompts_check(spec: RunSpec, prompts: Sequence[Prompt]) -> Check:
    """How many prompts there are, whether some repeat, and whether the run is evaluated on what it trains on."""
    texts = [prompt.text for prompt in prompts]
    per_batch = spec.batch.num_prompts_per_batch
    counted = (
        f"{len(texts)} prompts, {per_batch} in a batch: each is drawn about every {len(texts) / per_batch:.3g} batches"
    )
    held_out = [prompt.text for prompt in spec.evaluation.prompts]
    shared = sorted(set(held_out) & set(texts))
    repeated = len(texts) - len(set(texts))
    if repeated:
        return Check(
            CheckName.PROMPTS,
            CheckState.WARNING,
            f"{counted}. {repeated} repeat the text of others, which are trained on more often.",
            "Remove the repeated ones, unless they differ in what rewards know of them.",
            "prompts",
        )
    if shared:
        return Check(
            CheckName.PROMPTS,
            CheckState.WARNING,
            f"{counted}. {len(shared)} of {len(held_out)} held-out prompts are trained on, such as `{shared[0][:60]}`: "
            "their reward does not show how well the model generalises.",
            "Take them out of one of the two lists.",
            "evaluation.prompts",
        )
    rest = f"{len(held_out)} held-out ones are apart from them" if held_out else "none is held out"
    return Check(CheckName.PROMPTS, CheckState.FINE, f"{counted}. None repeats another; {rest}.")


def _named(nodes: Sequence[str]) -> str:
    return ", ".join(nodes[:3]) + (f" and {len(nodes) - 3} more nodes" if len(nodes) > 3 else "")
