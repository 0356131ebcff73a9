"""Integers of a few bits each, as Parquet stores them: runs of equal ones, or packed bit by bit."""

from __future__ import annotations

import numpy as np

from shoal.kernels import lean_kernel


@lean_kernel
def decode_runs(content, width, out):
    """Decode integers of `width` bits (the RLE / bit-packing hybrid of Parquet) into int64[n].

    `content` is uint8[bytes]. Returns how many there were; fewer than n if the content ends before.
    """
    got, place, mask = 0, 0, (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    whole = (width + 7) // 8
    while got < len(out):
        head, shift = np.uint64(0), np.uint64(0)
        more = True
        while more:
            if place >= len(content) or shift > np.uint64(56):
                return got
            head |= np.uint64(content[place] & 127) << shift
            shift += np.uint64(7)
            more = content[place] >= 128
            place += 1
        many = np.int64(head >> np.uint64(1))
        if head & np.uint64(1):
            if many > (len(content) - place) // width:
                return got
            end = place + many * width
            bits, held = np.uint64(0), np.uint64(0)  # bits that were read but not used
            for _ in range(min(8 * many, len(out) - got)):
                while held < np.uint64(width):
                    bits |= np.uint64(content[place]) << held
                    held += np.uint64(8)
                    place += 1
                out[got] = bits & mask
                bits >>= np.uint64(width)
                held -= np.uint64(width)
                got += 1
            place = end
        else:
            if whole > len(content) - place:
                return got
            number = np.int64(0)
            for byte in range(whole):
                number |= np.int64(content[place + byte]) << (8 * byte)
            place += whole
            for _ in range(min(many, len(out) - got)):
                out[got] = number
                got += 1
    return got
