"""One prediction of a rollout lane, spread over the lane's GPUs."""
