"""What people type and pass: every value is checked here, once for each kind of value."""

from gossamer.reading.values import choice, fraction, instance, number, seed, text, whole, whole_text

__all__ = ["choice", "fraction", "instance", "number", "seed", "text", "whole", "whole_text"]
