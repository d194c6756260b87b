"""Which shards of a published version each trainer rank publishes. Torch-free: the driver asks it too."""


def places_of_rank(num_shards: int, *, rank: int, world_size: int) -> range:
    """Every `world_size`-th shard from the rank's own number on; none for ranks beyond the shards."""
    return range(rank, num_shards, world_size)
