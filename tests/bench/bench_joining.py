"""Bench: clusters that join one after another: 250 in a star, all secondaries of one, and 1,000 in pairs.

    python tests/bench/bench_joining.py [clusters in a star] [clusters in pairs]

Each cluster of the star has three nodes and a site of its own, with a line to the primary's; those in pairs have one
node each and share a site.  The ratio says how the cost of a join grows: the last fifth of the joins over the first.
What the primary commits for a join is shipped to all who joined before, so in a star a join costs linearly more; in
pairs it costs what the others do meanwhile.  Without the trace, in processor time.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.lab_rows import IN_PAIRS, IN_STAR, joined, pairs, star

STAR_GOAL_S, PAIRS_GOAL = 8, 2


def main(in_star: int = IN_STAR, in_pairs: int = IN_PAIRS) -> None:
    """Print a line for each shape."""
    built_s, took_s, ratio = joined(star(in_star), [(0, number) for number in range(1, in_star)])
    verdict = "kept" if built_s + took_s <= STAR_GOAL_S else "MISSED"
    print(
        f"{in_star:5} in a star: built in {built_s:.1f} s, joined in {took_s:.1f} s   goal {STAR_GOAL_S} s: {verdict}"
    )
    print(f"{ratio:5.1f} × the first joins take the last")
    built_s, took_s, ratio = joined(pairs(in_pairs), [(number, number + 1) for number in range(0, in_pairs, 2)])
    verdict = "kept" if ratio <= PAIRS_GOAL else "MISSED"
    print(f"{in_pairs:5} in pairs: built in {built_s:.1f} s, joined in {took_s:.1f} s")
    print(f"{ratio:5.1f} × the first joins take the last   goal {PAIRS_GOAL}: {verdict}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
