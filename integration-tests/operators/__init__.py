"""Every stateful operator from Python, restarted half way."""
