"""Which free lanes a run gets, and until when others need them."""
