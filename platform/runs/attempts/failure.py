"""Why a run failed, and what to try: the content of the run page's failure panel. Pure.

Suggestions follow from patterns in the reason, the details and the last log lines; without a match none is guessed.
Invariant: no setting is suggested that the run's spec lacks or has already.
"""

import re
from typing import Any

from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec

MAX_DETAIL_CHARS = 20_000
_SETTING_OF_ALGORITHM = re.compile(r"`algorithm\.([a-z_]+)`")
_TERMINAL_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""Terminal colour codes, which Ray writes into tracebacks and a page would show as boxes."""

SUGGESTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"out of memory|OutOfMemory|\bOOM\b|Cannot allocate memory|oom-kill|exit code -?9\b|SIGKILL",
        (
            "Lower `batch.micro_batch_size`: it changes memory, not the result.",
            "Lower `batch.fragment_size`, so that a lane generates fewer pictures at once.",
            "Set `deepspeed.gradient_checkpointing` to 1, choose a `deepspeed.config` of a higher ZeRO stage, or give "
            "`lanes.num_trainer` more lanes.",
        ),
    ),
    (
        r"non.?finite|\bNaN\b|\binf\b loss",
        (
            "Lower `optimizer.learning_rate`, or `optimizer.max_grad_norm`.",
            "Use `base_model.dtype: fp32`: half precision overflows first.",
            "Lower `algorithm.clip_range`.",
            "Lower `algorithm.divergence_bound`.",
            "Lower `algorithm.reward_scale`.",
        ),
    ),
    (
        r"replay gate|\bgate\b.*(fail|not pass)|max_(mean|rms|quantile|ratio)_error",
        (
            "Sampling and training disagree about the policy.",
            "Use `base_model.dtype: fp32`.",
            "Lower `sampling.guidance_scale` to 1 to see whether guidance is the cause.",
            "Do not widen `replay_gate` before the cause is known: training on a wrong ratio looks healthy.",
        ),
    ),
    (
        r"reward '\w+' failed on|settings\.secret",
        (
            "Turn `required` off for that reward, so that samples go without it, or make it `watched`.",
            "For a remote scorer: see its own log, and raise `timeout_seconds` or `num_retries`.",
        ),
    ),
    (
        r"bound tensors|checksum|adapter .*mismatch",
        (
            "The published weights did not reach the rollout lanes whole.",
            "Check `lora.targets` against the model.",
        ),
    ),
    (
        r"base_model\.path|model_index\.json|safetensors(?! must have| is missing)|not found on the hub|"
        r"RepositoryNotFound|is no folder",
        (
            "Choose a base model from the list in the form.",
            "A cluster's nodes must see the same TANDEM_MODEL_ROOTS as the web.",
        ),
    ),
    (
        r"is damaged: its file|is not a complete checkpoint|manifest\.json (is damaged|was changed)",
        (
            "Neither this checkpoint nor one before it can be loaded: look for what changes files below "
            "TANDEM_CHECKPOINTS.",
            "Duplicate the run to start again; raise `checkpoint.num_kept` to have more to go back to.",
        ),
    ),
    (
        r"placement|no lanes|lane .*(could not|did not|timed out)|resources? (are|is) not available",
        (
            "The cluster could not place the lanes: compare the pool with `ray status`.",
            "Ask for fewer lanes, or register the missing node.",
        ),
    ),
    (
        r"driver was lost|heartbeat|job (failed|stopped)|is unknown to the cluster",
        (
            "Read the last log lines, which hold the driver's error if it reported one.",
            "Duplicate the run to start again; `checkpoint.every_num_batches` bounds what a lost driver costs.",
            "If they hold no error, look for the system's out-of-memory killer on the driver's node.",
        ),
    ),
    (
        r"bootstrap code|could not be reached|could not be submitted|cluster .*unreachable|TANDEM_PUBLIC_URL",
        (
            "Check that the cluster's nodes reach TANDEM_PUBLIC_URL.",
            "Check that Ray runs and that RAY_ADDRESS names its dashboard.",
        ),
    ),
    (
        r"\A`[a-z_]+\.[a-z_.]+` must",
        ("Choose “Edit and rerun” and change the field that the reason names.",),
    ),
    (
        r"No space left|disk (is )?full|ENOSPC",
        ("Free disk space below TANDEM_VAR, TANDEM_CHECKPOINTS and the nodes' temporary folder.",),
    ),
)
UNKNOWN = (
    "The cause is unknown: read the details and the last log lines.",
    "Duplicate the run with the same seed to see whether it fails at the same place.",
)


def describe_failure(
    spec: RunSpec, *, reason: str, phase: str = "", details: str = "", log_tail: str = ""
) -> dict[str, Any]:
    """`{reason, phase, details, log_tail, suggestions}`, with long texts truncated at the front, since the end names
    the cause."""
    return {
        "reason": reason,
        "phase": phase,
        "details": _TERMINAL_COLOURS.sub("", details)[-MAX_DETAIL_CHARS:],
        "log_tail": _TERMINAL_COLOURS.sub("", log_tail)[-MAX_DETAIL_CHARS:],
        "suggestions": suggestions_for(spec, reason, details, log_tail),
    }


def suggestions_for(spec: RunSpec, reason: str, details: str = "", log_tail: str = "") -> list[str]:
    """What to try, with matches of the reason first; never empty."""
    for text in (reason, f"{details}\n{log_tail}"):
        found = [hint for pattern, hints in SUGGESTIONS if re.search(pattern, text, re.IGNORECASE) for hint in hints]
        if applicable := [hint for hint in dict.fromkeys(found) if _applies(hint, spec)]:
            return applicable
    return list(UNKNOWN)


def _applies(hint: str, spec: RunSpec) -> bool:
    """Whether the spec has the setting that the hint would change, and not yet the suggested value."""
    settings = _SETTING_OF_ALGORITHM.findall(hint)
    if not all(hasattr(spec.algorithm, name) for name in settings):
        return False
    if "`lora." in hint:
        return spec.tuning is Tuning.LORA
    return "`base_model.dtype: fp32`" not in hint or spec.base_model.dtype != "fp32"
