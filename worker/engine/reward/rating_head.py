"""The head that the aesthetic predictor and ImageReward share: five linear layers without activations, to one number.

From github.com/christophschuhmann/improved-aesthetic-predictor; ImageReward (github.com/THUDM/ImageReward) took it
over. The layers' places in the sequence are those of the published checkpoints, whose dropouts count too.
"""

from torch import nn


def rating_head(width: int) -> nn.Sequential:
    """From embeddings (N, `width`) to ratings (N, 1)."""
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
