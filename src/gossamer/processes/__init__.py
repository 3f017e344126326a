"""Worker processes: many points, or the tries of a search, on all processors of a machine."""
