"""The names of the curves: the engine writes them, charts and REST read them."""

from enum import StrEnum


class Metric(StrEnum):
    """Names of curves: one value for each batch."""

    REWARD_MEAN = "reward/mean"
    """Mean over the batch of the weighted sum of the trained rewards."""
    REWARD_STD = "reward/std"
    """Standard deviation of the same over the batch."""
    REWARD_PART = "reward/part/{name}"
    """Mean of one reward. Template: `str.format(name=...)` with the reward's key."""
    REWARD_MISSING = "reward/missing/{name}"
    """Number of samples of the batch without a score of this reward; only in batches with such samples. Template."""
    REWARD_RETRIES = "reward/retries/{name}"
    """Number of repeated calls of this reward in the batch; only in batches with such calls. Template."""
    REWARD_HACKING = "reward/hacking_suspected"
    """1 while the optimised reward rises and a monitored one falls, both beyond their noise, else 0: see
    `worker.engine.metrics.reward_hacking`."""
    ZERO_STD_GROUPS = "reward/zero_std_share"
    """Share of groups without spread: their rewards are all equal, so no advantage differs from 0. Groups that were
    drawn again count by their last draw."""
    RESAMPLED_GROUPS = "reward/resampled_groups"
    """Number of draws of the batch that were dropped for want of spread; only with `batch.max_resamples`."""
    SKIPPED_OPTIMIZER_STEPS = "policy/skipped_optimizer_steps"
    """Number of optimizer steps of the batch that were not taken, because no group of the mini-batch has spread; only
    with `batch.filter_groups`."""
    KL = "policy/kl"
    RATIO_MEAN = "policy/ratio_mean"
    RATIO_MAX_DEVIATION = "policy/ratio_max_deviation"
    """Largest |ratio − 1|."""
    CLIP_FRACTION = "policy/clip_fraction"
    """Share of pairs whose ratio was clipped, or which were masked."""
    LOSS = "policy/loss"
    GRAD_NORM = "policy/grad_norm"
    """L2 norm of the gradient before it is clipped."""
    LEARNING_RATE = "policy/learning_rate"
    IMAGES_PER_SECOND = "speed/images_per_second"
    BATCH_SECONDS = "speed/batch_seconds"
    GENERATE_SECONDS = "speed/generate_seconds"
    TRAIN_SECONDS = "speed/train_seconds"
    PADDING_SECONDS = "speed/padding_seconds"
    """The part of `speed/train_seconds` that went into passes of weight 0, which trainer lanes make so that ranks in
    step have equally many: what they lose to ranks that take work by their speed. Only with ZeRO 2 and 3."""
    STALENESS_MEAN = "staleness/mean"
    STALENESS_MAX = "staleness/max"
    POLICY_VERSION = "staleness/policy_version"
    IDLE_SHARE = "lanes/idle_share"
    """Time in which lanes idled with any cause since the previous batch was trained, divided by the time of all lanes
    that was not paused."""
    EVAL_REWARD = "eval/reward"
    """Held-out mean of the weighted sum of the trained rewards."""
    EVAL_PART = "eval/part/{name}"
    """Held-out mean of one reward. Template: `str.format(name=...)` with the reward's key."""
