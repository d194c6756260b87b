"""Rewards: one file each, registered by the names of `worker.contracts.names.RewardName`."""
