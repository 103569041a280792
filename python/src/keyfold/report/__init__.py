"""Pictures of a checkpoint, and the page that shows them."""
