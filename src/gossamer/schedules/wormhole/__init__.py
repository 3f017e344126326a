"""Wormhole schedules: messages on fixed paths, in steps, as columns; their payloads, channels and files."""
