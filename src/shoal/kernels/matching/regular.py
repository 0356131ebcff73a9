"""A perfect matching of a bipartite graph in which everybody has equally many pairs.

Random walks find one in about n log n steps (Goel, Kapralov and Khanna 2010): who has no row walks
along a random one of the other pairs, from there to whoever holds that row, and so on, until a row
is free. The last steps from each person lead along an augmenting path.
"""

from __future__ import annotations

from shoal.kernels import kernel


@kernel
def match_regular(row, begin, stop, rng, held, holder, step):
    """Match the people from `begin` to `stop`, and find new rows for others on the way.

    row[i] are the rows of person i, int64[n, d]. held[i] is which of them is that of person i, and
    holder[r] is who holds row r; both are -1 at first. `step`, int64[n], is scratch.
    """
    many = row.shape[1]
    for one in range(begin, stop):
        i = one
        while True:
            if held[i] < 0:
                step[i] = int(rng.random() * many)
            else:
                step[i] = int(rng.random() * (many - 1))
                step[i] += step[i] >= held[i]  # any pair but the own one
            i = holder[row[i, step[i]]]
            if i < 0:
                break
        i = one
        while i >= 0:
            held[i] = step[i]
            r = row[i, held[i]]
            i, holder[r] = holder[r], i
