"""Training: replay stored transitions, accumulate gradients over a mini-batch, step, checkpoint, export."""
