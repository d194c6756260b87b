"""What a run measures about itself: the curves and the gates that fail it."""
