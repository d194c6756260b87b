"""The rewards of the shapes world, and what they need: captions read back, ideal drawings, an independent judge."""
