"""`python -m memgauge ARGUMENTS` is `memgauge ARGUMENTS`."""

import sys

from ._program import main

sys.exit(main())
