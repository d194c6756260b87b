"""Which micro-batches go through the forward passes that only monitor: quantities that nothing is trained on."""

MONITORING_STRIDE = 10
"""One micro-batch in this many goes through another forward pass, for quantities that nothing is trained on. A
micro-batch costs two forward passes, or three with recomputation, so that is 3 to 5 % of the work."""


def is_monitored(index: int, number: int, *, batch: int) -> bool:
    """Whether micro-batch `index` of `number` is monitored: one of each `MONITORING_STRIDE`, and at least one of all.

    Its index within the stride changes from stride to stride and from batch to batch: denoising steps and prompts
    repeat in the order of micro-batches, so at a fixed index the same ones would be monitored forever.

    Args:
        index: from 0; where ranks run in lockstep, among the passes of this rank, otherwise in the mini-batch.
        number: ≥ 1; the fewest that there will be of what `index` counts.
        batch: the batch's number.
    """
    stride, within = divmod(index, MONITORING_STRIDE)
    if stride == 0:
        return within == _index_in_stride(batch) % min(number, MONITORING_STRIDE)
    return within == _index_in_stride(stride + batch)


def _index_in_stride(number: int) -> int:
    """Every index once in `MONITORING_STRIDE` consecutive numbers, since 7 and 10 have no common divisor; neighbours
    lie far apart."""
    return 7 * number % MONITORING_STRIDE
