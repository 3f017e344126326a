"""Total exchange (alltoall): every node sends a different message to every other."""
