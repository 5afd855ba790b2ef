"""`python -m outfitter`."""

import sys

from outfitter.main import main

sys.exit(main())
