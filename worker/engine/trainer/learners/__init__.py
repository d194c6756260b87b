"""From a complete group to the loss of a micro-batch: one learner for each kind of data that algorithms train on."""
