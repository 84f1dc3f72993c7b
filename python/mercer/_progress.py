"""A progress bar on one line, as tqdm draws it, and in notebooks.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
import time
from typing import Any

WIDTH = 30


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def line(phase: str, fraction: float, seconds: float, left: float, step: int, violation: float) -> str:
    """What the bar shows."""
    parts = [f"{phase}:"]
    if fraction == fraction:
        full = int(fraction * WIDTH)
        parts.append(f"{100 * fraction:3.0f}%|{'█' * full}{' ' * (WIDTH - full)}|")
    if step > 0:
        parts.append(f"{step} steps")
    if violation == violation and violation > 0:
        parts.append(f"violation {violation:.2g}")
    parts.append(f"[{clock(seconds)}" + (f"<{clock(left)}]" if left > 0 else "]"))
    return " ".join(parts)


class Bar:
    """Shows reports of the library on standard error, at most ten times a second."""

    def __init__(self) -> None:
        self.drawn = 0
        self.last = 0.0

    def __call__(self, *report: Any) -> None:
        now = time.monotonic()
        if now - self.last < 0.1:
            return
        self.last = now
        text = line(*report)
        sys.stderr.write("\r" + text + " " * max(0, self.drawn - len(text)))
        sys.stderr.flush()
        self.drawn = len(text)

    def close(self) -> None:
        if self.drawn:
            sys.stderr.write("\n")
            sys.stderr.flush()
