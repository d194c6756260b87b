"""Mirrors: what runs report, copied from the stored stream to W&B, MLflow or TensorBoard, off the training path."""
