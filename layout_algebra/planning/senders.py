"""Who sends what: each item goes to one of its candidates, so that the largest load is least.

    least_loaded([(0, 1), (0,), (0, 1)])      # [1, 0, 1]: nobody can do better than two items

An optimal semi-matching.  Items are given out one by one, each along a path of exchanges to the
least loaded candidate that can be reached, which leaves every state optimal (Harvey, Ladner,
Lovasz, Tamir: Semi-matchings for bipartite graphs and load balancing, 2006).  Items with the same
candidates are counted together, so that many items cost little.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence

Candidates = tuple[int, ...]


def least_loaded(items: Sequence[Candidates]) -> list[int]:
    """One candidate for each item; no other choice has a smaller largest load.

    Args:
        items: the candidates of each item, at least one.
    """
    wanted = Counter(items)
    given: dict[Candidates, Counter[int]] = {group: Counter() for group in wanted}
    serving: defaultdict[int, set[Candidates]] = defaultdict(set)
    load: Counter[int] = Counter()
    for group in sorted(wanted, key=lambda group: (len(group), group)):
        if len(group) == 1:
            given[group][group[0]] = wanted[group]
            load[group[0]] += wanted[group]
            continue
        for _ in range(wanted[group]):
            path = _path(group, load, serving)
            load[path[-1][1]] += 1
            _shift(path, given, serving)
    chosen = {group: iter(sorted(counts.elements())) for group, counts in given.items()}
    return [next(chosen[group]) for group in items]


def _path(
    group: Candidates, load: Counter[int], serving: dict[int, set[Candidates]]
) -> list[tuple[Candidates, int]]:
    """The steps (a group, who takes one more of it) that end at the least loaded candidate."""
    before: dict[int, tuple[Candidates, int | None]] = dict.fromkeys(group, (group, None))
    waiting = deque(group)
    while waiting:
        here = waiting.popleft()
        for other in sorted(serving.get(here, ())):
            for one in other:
                if one not in before:
                    before[one] = (other, here)
                    waiting.append(one)
    here: int | None = min(before, key=lambda one: load[one])
    steps: list[tuple[Candidates, int]] = []
    while here is not None:
        through, previous = before[here]
        steps.append((through, here))
        here = previous
    return steps[::-1]


def _shift(
    path: Sequence[tuple[Candidates, int]],
    given: dict[Candidates, Counter[int]],
    serving: dict[int, set[Candidates]],
) -> None:
    """One more item for the first on the path, each of whom hands one on to the next."""
    previous: int | None = None
    for group, taker in path:
        if previous is not None:
            given[group][previous] -= 1
            if given[group][previous] == 0:
                serving[previous].discard(group)
        given[group][taker] += 1
        serving[taker].add(group)
        previous = taker
