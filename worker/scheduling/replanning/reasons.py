"""The reason of a decision, in words for the run page."""

from collections.abc import Iterator, Sequence

from worker.contracts.sections import PipelineSpec
from worker.scheduling.replanning.decision import Decision, Situation


def reason_of(situation: Situation, decision: Decision, names: Sequence[str]) -> str:
    """What changes, why, and what it is predicted to gain. `names`: ids of the lanes that generate or train."""
    slow = [f"{names[lane]} takes {situation.speeds[lane]:.1f} × the usual time of its kind" for lane in decision.slow]
    if not decision.is_change:
        return "; ".join([*slow, "no other way of working is predicted to gain more than it costs"])
    share = 1 - decision.batch_seconds / decision.seconds_before
    gain = (
        f"by measured costs a batch takes {decision.batch_seconds:.4g} s instead of {decision.seconds_before:.4g} s, "
        f"{100 * share:.1f} % less"
    )
    if decision.renews_gang:
        gain += f", for {situation.move_seconds:.3g} s in which training stands still"
    return "; ".join([*slow, *_changes(situation, decision, names), gain])


def _changes(situation: Situation, decision: Decision, names: Sequence[str]) -> Iterator[str]:
    before, after = set(situation.present.trainers), set(decision.candidate.trainers)
    for lanes, what in ((after - before, "trainer"), (before - after, "rollout")):
        if moved := sorted(lanes - set(decision.release)):
            yield f"from now on {what}: {', '.join(names[lane] for lane in moved)}"
    if before == after and decision.renews_gang and not decision.release:
        lent = decision.candidate.pipeline.trainers_generate and not situation.can_lend
        yield f"the trainer lanes are loaded anew{', to generate as well' if lent else ''}"
    if decision.release:
        yield f"given back: {', '.join(names[lane] for lane in decision.release)}"
    yield from _switches(situation.present.pipeline, decision.candidate.pipeline)
    sizes = situation.present.fragment_size, decision.candidate.fragment_size
    if sizes[0] != sizes[1]:
        yield f"fragments of {sizes[1]} instead of {sizes[0]}"


def _switches(before: PipelineSpec, after: PipelineSpec) -> Iterator[str]:
    if before.placement is not after.placement:
        yield f"placement is {after.placement} instead of {before.placement}"
    if before.max_staleness != after.max_staleness:
        yield f"staleness is at most {after.max_staleness} instead of {before.max_staleness}"
    if before.tag is not after.tag:
        yield f"lending is {after.tag} instead of {before.tag}"
    if before.gap is not after.gap:
        yield f"`gap` is {'on' if after.gap else 'off'}"
