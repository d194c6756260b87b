"""Which shards of a published version each trainer rank publishes. Torch-free: the driver asks it too."""


def share(num_shards: int, *, rank: int, world_size: int) -> range:
    """The places of a rank's shards: every `world_size`-th from its own number on; none for ranks beyond the shards."""
    return range(rank, num_shards, world_size)
