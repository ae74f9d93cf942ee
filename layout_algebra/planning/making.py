"""From moves to what threads do: renames, shuffle rounds, a trip through shared memory.

    rounds, needed = in_rounds(moves_within_warps)
    len(rounds), needed.count       # what was found, and what no schedule can do without

Warps whose lanes have the same moves share one schedule, and all warps run theirs at the same time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from layout_algebra.planning.movement import Group, Read, Round, Shared
from layout_algebra.planning.moves import Move
from layout_algebra.planning.places import Place
from layout_algebra.planning.rounds import Offer, schedule

#: (lane that reads, (lane, register) that is read): the registers that get the value.
Wanted = dict[tuple[int, Offer], tuple[int, ...]]


@dataclass(frozen=True)
class Needed:
    """Rounds that no schedule can do without, and the lane that needs them.

    Attributes:
        count: the rounds; 0 when nothing is sent.
        busiest: "lane 3 of warp 0 reads 4 elements", in words.
    """

    count: int
    busiest: str

    def reason(self, minimal: bool) -> str:
        """Why the number of rounds found is the fewest, or is not known to be."""
        if self.count == 0:
            return "nothing is sent"
        bound = f"{self.busiest}, one a round"
        if minimal:
            return bound
        return (
            f"at least {self.count}, since {bound}; where several lanes read a register the fewest "
            "are not known"
        )


def in_threads(moves: Iterable[Move]) -> tuple[tuple[Place, Place], ...]:
    """(source, target) of the moves that stay in their thread."""
    return tuple(
        (move.source, move.target) for move in moves if move.distance in ("stay", "register")
    )


def in_rounds(moves: Iterable[Move]) -> tuple[tuple[Round, ...], Needed]:
    """Shuffle rounds for moves within warps, and how many are needed at least.

    A lane that gets an element into several registers reads it once.
    """
    alike: defaultdict[tuple[tuple[tuple[int, Offer], tuple[int, ...]], ...], list[int]]
    alike = defaultdict(list)
    for warp, wanted in _by_warp(moves).items():
        alike[tuple(sorted(wanted.items()))].append(warp)
    found: list[tuple[tuple[int, ...], Wanted, list[dict[int, Offer]]]] = []
    needed = Needed(0, "")
    for pattern, warps in alike.items():
        wanted = dict(pattern)
        sends: defaultdict[Offer, set[int]] = defaultdict(set)
        for reader, offer in wanted:
            sends[offer].add(reader)
        needed = max(needed, _needed(wanted, warps[0]), key=lambda one: one.count)
        found.append((tuple(warps), wanted, schedule(sends)))
    longest = max((len(rounds) for _, _, rounds in found), default=0)
    return tuple(Round(_groups(found, number)) for number in range(longest)), needed


def through_memory(moves: Sequence[Move]) -> Shared:
    """Every element that leaves its thread is written once, and read once by each thread."""
    slots: dict[Place, int] = {}
    reads: defaultdict[tuple[int, tuple[int, int]], list[Place]] = defaultdict(list)
    for move in moves:
        slot = slots.setdefault(move.source, len(slots))
        reads[slot, move.target.thread].append(move.target)
    return Shared(
        tuple(slots.items()), tuple((slot, tuple(places)) for (slot, _), places in reads.items())
    )


def _by_warp(moves: Iterable[Move]) -> dict[int, Wanted]:
    found: defaultdict[int, Wanted] = defaultdict(dict)
    for _, _, source, target in moves:
        key = (target.lane, (source.lane, source.register))
        wanted = found[target.warp]
        wanted[key] = (*wanted.get(key, ()), target.register)
    return found


def _needed(wanted: Wanted, warp: int) -> Needed:
    """The bound of one warp: a lane reads and offers one register a round.

    Senders were chosen so that the busiest offers the fewest; so another choice of copies needs no
    fewer rounds, and neither do values that are handed on, which one holder has to offer first.
    """
    reads = Counter(reader for reader, _ in wanted)
    offers = Counter(lane for lane, _ in {offer for _, offer in wanted})
    (reader, most_read), (sender, most_sent) = reads.most_common(1)[0], offers.most_common(1)[0]
    count = max(most_read, most_sent)
    who, what = (reader, "reads") if count == most_read else (sender, "offers")
    noun = "element" if count == 1 else "elements"
    return Needed(count, f"lane {who} of warp {warp} {what} {count} {noun}")


def _groups(
    found: Sequence[tuple[tuple[int, ...], Wanted, list[dict[int, Offer]]]], number: int
) -> tuple[Group, ...]:
    return tuple(
        Group(
            warps,
            tuple(
                Read(reader, *offer, wanted[reader, offer])
                for reader, offer in rounds[number].items()
            ),
        )
        for warps, wanted, rounds in found
        if number < len(rounds)
    )
