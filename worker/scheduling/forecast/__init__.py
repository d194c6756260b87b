"""When the open batches will end, in closed form, and which idle trainer lanes to lend for them to end sooner."""
