"""Makes the shared modules of this directory importable from the tests. EXACT_TEST_EVERY=n runs about one test of n, the same
ones every time."""

import os
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
EVERY = int(os.environ.get("EXACT_TEST_EVERY", "1"))


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if zlib.crc32(item.nodeid.encode()) % EVERY]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not zlib.crc32(item.nodeid.encode()) % EVERY]
