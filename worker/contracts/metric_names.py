"""The names of the curves, in one place: engine writes them, charts and REST read them."""

from enum import StrEnum


class Metric(StrEnum):
    REWARD_MEAN = "reward/mean"
    REWARD_STD = "reward/std"
    REWARD_PART = "reward/part/{name}"
    """Template: `str.format(name=...)` with a reward's name."""
    ZERO_STD_GROUPS = "reward/zero_std_share"
    KL = "policy/kl"
    RATIO_MEAN = "policy/ratio_mean"
    RATIO_MAX_DEVIATION = "policy/ratio_max_deviation"
    CLIP_FRACTION = "policy/clip_fraction"
    LOSS = "policy/loss"
    GRAD_NORM = "policy/grad_norm"
    LEARNING_RATE = "policy/learning_rate"
    IMAGES_PER_SECOND = "speed/images_per_second"
    BATCH_SECONDS = "speed/batch_seconds"
    GENERATE_SECONDS = "speed/generate_seconds"
    TRAIN_SECONDS = "speed/train_seconds"
    STALENESS_MEAN = "staleness/mean"
    STALENESS_MAX = "staleness/max"
    POLICY_VERSION = "staleness/policy_version"
    IDLE_SHARE = "lanes/idle_share"
    EVAL_REWARD = "eval/reward"
    EVAL_PART = "eval/part/{name}"
    """Template: `str.format(name=...)` with a reward's name."""
