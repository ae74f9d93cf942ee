"""`python -m layout_algebra`: the command line."""

from __future__ import annotations

import sys

from layout_algebra.cli import main

if __name__ == "__main__":
    sys.exit(main())
