"""Exact max-margin attention of a text that outgrows one machine.

Dask reads the text in blocks and gathers the samples of each query. A query needs no other one: its
order is found and its column is solved wherever its samples are. Run it as

    python columns_on_a_cluster.py TEXT [ADDRESS OF A SCHEDULER]

It needs dask and distributed: pip install "ntpcore[sweep]".
"""

import sys
from fractions import Fraction

import dask.bag
from dask.distributed import Client

import ntpcore as ntp


def samples(line):
    """Every proper prefix of a sentence, with the token that follows."""
    words = line.split()
    return [(tuple(words[:end]), words[end]) for end in range(1, len(words))]


def column(group, following):
    """The scores of one query, and their squared norm."""
    query, pairs = group
    found = ntp.max_margin(ntp.from_samples(pairs), following)
    return query, found.columns.get(query, {}), found.norm_squared


def main(text, address=None):
    """Print the column of each query, and the squared norm of all."""
    with Client(address) if address else Client(processes=False, dashboard_address=None):
        pairs = dask.bag.read_text(text, blocksize="64MB").map(samples).flatten()
        first = pairs.filter(lambda pair: len(pair[0]) == 1).distinct().compute()
        following = {sentence[0]: token for sentence, token in first}
        if len(following) < len(first):
            sys.exit("Some token is followed by two tokens, so that there is no map n.")
        groups = pairs.distinct().groupby(lambda pair: pair[0][-1], shuffle="tasks")
        solved = groups.map(column, following=following).compute()
    for query, scores, _ in sorted(solved):
        if scores:
            print(query, *(f"{token}={score}" for token, score in sorted(scores.items())))
    print("squared norm", sum((square for *_, square in solved), Fraction(0)))


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["examples/example1.txt"]))
