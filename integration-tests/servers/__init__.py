"""The servers that tests keep checkpoints on, and the proxy that makes one of them a bad one."""
