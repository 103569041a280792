"""A query of each kind side by side, and what the application takes meanwhile."""
