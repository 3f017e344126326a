"""``python -m gossamer``."""

import sys

from gossamer.cli import main

sys.exit(main())
