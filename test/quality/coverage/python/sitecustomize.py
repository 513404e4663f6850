"""Lets gcov hear of children that end by os._exit, which skips what writes the counts.

run.sh names the folder in PYTHONPATH, and the extension in BLOOM_COVERED.
"""

import ctypes
import os

end = os._exit


def write_counts_and_end(status):
    ctypes.CDLL(os.environ["BLOOM_COVERED"]).__gcov_dump()
    end(status)


if "BLOOM_COVERED" in os.environ:
    os._exit = write_counts_and_end
