"""The demo adapter's package, importable."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[4] / "adapters" / "demo"
if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))
