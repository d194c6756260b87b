"""From a complete group to the loss of a micro-batch: one learner for each thing that algorithms train on."""
