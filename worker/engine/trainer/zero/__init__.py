"""What Tandem adds to DeepSpeed ZeRO: configuration, sharded loading, gradients, state offload, the process group."""
