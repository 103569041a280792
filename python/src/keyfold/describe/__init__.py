"""What a checkpoint is, as a value and as text."""
