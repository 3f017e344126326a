"""What people type and pass: every value is checked here, once for each kind of value.

Single values are in `values`, those with units and ranges in `quantities`, sets of nodes and counts in `node_lists`,
files in `files`, `matrix_market`, `parquet` and `traffic_files`. A reader takes what was given and its name, and gives
the value or raises one line that says what was wrong and what is allowed.
"""

from gossamer.reading.values import choice, fraction, instance, number, seed, text, whole, whole_text

__all__ = ["choice", "fraction", "instance", "number", "seed", "text", "whole", "whole_text"]
