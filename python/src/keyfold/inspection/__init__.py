"""What the state consists of, as tables of metadata."""
