"""Schedules for any task on any network: routes by prices, list scheduling, flooding."""
