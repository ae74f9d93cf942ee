"""The recorded cases of tests/data/cases, by number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent.parent / "data" / "cases"


def case(number: int) -> dict[str, Any]:
    (path,) = CASES.glob(f"{number:02d}-*.json")
    return json.loads(path.read_text())
