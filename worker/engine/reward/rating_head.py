"""The rating head of the aesthetic predictor and of ImageReward: five linear layers without activations.

From github.com/christophschuhmann/improved-aesthetic-predictor, also used by github.com/THUDM/ImageReward. The dropouts
do nothing in inference, but the names in published checkpoints count them.
"""

from torch import nn


def rating_head(width: int) -> nn.Sequential:
    """A module that maps embeddings (N, `width`) to ratings (N, 1)."""
    return nn.Sequential(
        nn.Linear(width, 1024),
        nn.Dropout(0.2),
        nn.Linear(1024, 128),
        nn.Dropout(0.2),
        nn.Linear(128, 64),
        nn.Dropout(0.1),
        nn.Linear(64, 16),
        nn.Linear(16, 1),
    )
