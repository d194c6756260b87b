"""What runs made: sample pictures, adapters, checkpoints' records, their bytes, and prompts tried on a LoRA."""
