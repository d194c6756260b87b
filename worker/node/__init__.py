"""The node agent: reports the GPUs of every node of the cluster to the web."""
