"""What the demo raises when it cannot go on."""


class DemoError(Exception):
    """The demo cannot go on; the message says why and where to look."""
