from typing import Any

import pytest

from runs.attempts.failure import MAX_DETAIL_CHARS, SUGGESTIONS, UNKNOWN, describe_failure, suggestions_for
from worker.contracts.algorithms import ALGORITHM_SPECS
from worker.contracts.run_spec import RunSpec


def spec_of(**sections: Any) -> RunSpec:
    return RunSpec.model_validate(
        {
            "prompts": {"inline": ["a red square", "a blue circle"]},
            "rewards": [{"name": "shape_match"}],
            "batch": {"num_prompts_per_batch": 2},
            "base_model": {"dtype": "bf16"},
            **sections,
        }
    )


SPEC = spec_of()


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("CUDA out of memory. Tried to allocate 2 GiB", "micro_batch_size"),
        ("the trainer's process died with exit code -9", "micro_batch_size"),
        ("non-finite gradient in batch 3", "learning_rate"),
        ("the replay gate did not pass in batch 1: max_mean_error 0.02 > 0.001", "fp32"),
        ("the adapter's checksum differs on rollout-0", "lora.targets"),
        ("`base_model.path` `x` is no folder below TANDEM_MODEL_ROOTS", "list in the form"),
        ("/c/batch-000003 is damaged: its file rank-00000-000.safetensors must have 10 bytes, got 9", "num_kept"),
        ("the placement group of trainer-0 was not ready after 60 s", "ray status"),
        ("the driver was lost: no heartbeat for 13 s", "last log lines"),
        ("the job could not be submitted for 91 s: Ray could not be reached", "RAY_ADDRESS"),
        ("`lora.targets` must name linear layers of the model, got 'x'", "the field that the reason names"),
        ("reward 'faces' failed on 2 of 8 samples; sample 0: no answer from scorer:8900", "`required`"),
        ("OSError: [Errno 28] No space left on device", "disk space"),
    ],
)
def test_known_reasons_come_with_what_to_try(reason: str, word: str) -> None:
    assert any(word in hint for hint in suggestions_for(SPEC, reason))


def test_suggestions_from_the_reason_come_before_those_from_the_log() -> None:
    hints = suggestions_for(SPEC, "non-finite loss", log_tail="out of memory")
    assert any("learning_rate" in hint for hint in hints)
    assert not any("micro_batch_size" in hint for hint in hints)


def test_an_unknown_reason_is_not_guessed_at() -> None:
    assert suggestions_for(SPEC, "something odd") == list(UNKNOWN)


def test_a_long_text_keeps_its_end() -> None:
    failure = describe_failure(SPEC, reason="x", details="a" * MAX_DETAIL_CHARS + "the end")
    assert len(failure["details"]) == MAX_DETAIL_CHARS
    assert failure["details"].endswith("the end")


def test_colours_meant_for_a_terminal_are_left_out() -> None:
    failure = describe_failure(
        SPEC, reason="x", details="\x1b[36mray::load()\x1b[39m", log_tail="\x1b[1;31mError\x1b[0m"
    )
    assert (failure["details"], failure["log_tail"]) == ("ray::load()", "Error")


def test_every_suggestion_is_a_sentence() -> None:
    assert all(hint.endswith(".") for _, hints in SUGGESTIONS for hint in hints)


@pytest.mark.parametrize("name", ALGORITHM_SPECS)
def test_no_setting_is_named_that_the_runs_algorithm_lacks(name: str) -> None:
    sampling = {"sde_type": "dance"} if name == "dance_grpo" else {}
    spec = spec_of(algorithm={"name": name}, sampling=sampling)
    hints = " ".join(suggestions_for(spec, "non-finite loss in batch 3"))
    assert "learning_rate" in hints
    for setting in ("clip_range", "divergence_bound", "reward_scale"):
        assert (f"`algorithm.{setting}`" in hints) == hasattr(spec.algorithm, setting)


def test_nothing_is_suggested_that_the_run_has_already() -> None:
    fp32 = spec_of(base_model={"dtype": "fp32"})
    assert not any("fp32" in hint for hint in suggestions_for(fp32, "non-finite loss"))
    assert any("fp32" in hint for hint in suggestions_for(SPEC, "non-finite loss"))


def test_lora_targets_are_not_suggested_without_a_lora() -> None:
    full = spec_of(tuning="full", base_model={"dtype": "fp32"})
    assert suggestions_for(full, "the checksum differs") == [
        "The published weights did not reach the rollout lanes whole."
    ]
