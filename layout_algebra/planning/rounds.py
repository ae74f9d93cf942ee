"""Shuffle rounds: when each lane of a warp offers which register, and who reads it.

    schedule({(0, 5): {1}, (1, 5): {0}})      # one round: lanes 0 and 1 exchange their register 5

In one round (`shfl.sync` with an index) every lane offers one register, and every lane reads what
one lane offers; several lanes may read the same offer.

Rounds are colours of the sends.  Where every register has one reader the sends are the edges of a
bipartite graph, lanes that send and lanes that read, and as many colours are enough as the busiest
lane has sends (Koenig 1916): a send that finds no round free on both sides exchanges two rounds
along a path.  With several readers of a register the same exchange works on whole components, but
no longer always, and a round is added where it does not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

#: (lane, register): what is offered.
Offer = tuple[int, int]
#: Reading lane -> what it reads, in one round.
Reads = dict[int, Offer]


def fewest(sends: Mapping[Offer, Collection[int]]) -> int:
    """Rounds that the busiest lane needs, as one that offers or as one that reads."""
    return _busiest(list(sends.items()))


def schedule(sends: Mapping[Offer, Collection[int]]) -> list[Reads]:
    """Rounds in which every reader gets every register that it is to read.

    Args:
        sends: (lane, register) -> the lanes that read it, each another than the lane itself.

    Returns:
        As many rounds as `fewest` where no register has several readers; else at least as many.
    """
    one_by_one = [(offer, [one]) for offer, readers in sends.items() for one in sorted(readers)]
    if _busiest(one_by_one) == fewest(sends):  # as good as it gets without reading together
        return _coloured(one_by_one)
    return _coloured([(offer, sorted(readers)) for offer, readers in sends.items()])


def _busiest(sends: Sequence[tuple[Offer, Collection[int]]]) -> int:
    offers = Counter(lane for (lane, _), _ in sends)
    reads = Counter(reader for _, readers in sends for reader in readers)
    return max([*offers.values(), *reads.values()], default=0)


def _coloured(sends: Sequence[tuple[Offer, list[int]]]) -> list[Reads]:
    """Rounds for sends that are put one after the other, those with the most readers first."""
    colouring = _Colouring(_busiest(sends))
    offers = Counter(lane for (lane, _), _ in sends)
    for offer, readers in sorted(sends, key=lambda send: (-len(send[1]), send[0], send[1])):
        offers[offer[0]] -= 1
        colouring.put(offer, readers, spare=offers[offer[0]])
    return [colouring.round(number) for number in range(colouring.count)]


class _Colouring:
    """Sends with the rounds that they have so far; sets of rounds are the bits of an int."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.offered: defaultdict[int, dict[int, int]] = defaultdict(dict)  # lane: round: register
        self.read: defaultdict[int, dict[int, int]] = defaultdict(dict)  # reader: round: lane
        self.readers: defaultdict[tuple[int, int], set[int]] = defaultdict(set)  # lane, round
        self.offering: Counter[int] = Counter()  # lane -> rounds in which it offers
        self.reading: Counter[int] = Counter()

    def round(self, number: int) -> Reads:
        """What is read in a round, by reader."""
        lanes = {reader: at[number] for reader, at in self.read.items() if number in at}
        return {
            reader: (lane, self.offered[lane][number]) for reader, lane in sorted(lanes.items())
        }

    def put(self, offer: Offer, readers: Sequence[int], spare: int) -> None:
        """Rounds for a register; `spare` rounds of its lane are kept for what is still to come."""
        lane, register = offer
        left = list(readers)
        first = True
        while left:
            free = self._free_offers(lane)
            if not first and free.bit_count() <= spare:
                free = 0
            number = self._best(lane, free, left)
            self.offered[lane][number] = register
            self.offering[lane] |= 1 << number
            left.sort(key=lambda reader: self.reading[reader] >> number & 1)  # the free ones first
            left = [reader for reader in left if not self._reads_in(lane, number, reader)]
            first = False

    # -- inside -------------------------------------------------------------------------------
    def _free_offers(self, lane: int) -> int:
        return ((1 << self.count) - 1) & ~self.offering[lane]

    def _free_reads(self, reader: int) -> int:
        return ((1 << self.count) - 1) & ~self.reading[reader]

    def _best(self, lane: int, free: int, readers: Sequence[int]) -> int:
        """The round among the free ones in which most readers are free; one made free, or new."""
        best = _most_common(free, [self._free_reads(reader) for reader in readers])
        if best is not None:
            return best
        for number in _bits(free):
            if any(self._make_free(lane, number, reader) for reader in readers):
                return number
        self.count += 1
        return self.count - 1

    def _reads_in(self, lane: int, number: int, reader: int) -> bool:
        """Let a reader read in a round, making it free where that can be done."""
        if self.reading[reader] >> number & 1 and not self._make_free(lane, number, reader):
            return False
        self.reading[reader] |= 1 << number
        self.read[reader][number] = lane
        self.readers[lane, number].add(reader)
        return True

    def _make_free(self, lane: int, number: int, reader: int) -> bool:
        """Exchange a round with another one around the reader, without touching the lane."""
        for other in _bits(self._free_reads(reader)):
            component = self._component(reader, number, other)
            if lane not in component[0]:
                self._exchange(component, number, other)
                return True
        return False

    def _component(self, reader: int, one: int, two: int) -> tuple[set[int], set[int]]:
        """The lanes and the readers that are joined to a reader by what two rounds send."""
        lanes: set[int] = set()
        readers = {reader}
        waiting = [reader]
        while waiting:
            here = waiting.pop()
            for number in (one, two):
                lane = self.read[here].get(number)
                if lane is None or lane in lanes:
                    continue
                lanes.add(lane)
                for both in (one, two):
                    new = self.readers.get((lane, both), set()) - readers
                    readers |= new
                    waiting.extend(new)
        return lanes, readers

    def _exchange(self, component: tuple[set[int], set[int]], one: int, two: int) -> None:
        lanes, readers = component
        for table, masks, keys in (
            (self.offered, self.offering, lanes),
            (self.read, self.reading, readers),
        ):
            for key in keys:
                _swap(table[key], one, two)
                masks[key] = _swap_bits(masks[key], one, two)
        for lane in lanes:
            first, second = self.readers.pop((lane, one), None), self.readers.pop((lane, two), None)
            if first:
                self.readers[lane, two] = first
            if second:
                self.readers[lane, one] = second


def _most_common(among: int, masks: Sequence[int]) -> int | None:
    """The lowest of the places that most masks have; None where no mask has any of them.

    Counts for all places at once: plane k holds bit k of each place's count.
    """
    planes: list[int] = []
    for mask in masks:
        carry = mask & among
        for position, plane in enumerate(planes):
            planes[position], carry = plane ^ carry, plane & carry
        if carry:
            planes.append(carry)
    if not planes:
        return None
    best = among
    for plane in reversed(planes):
        best = best & plane or best
    return (best & -best).bit_length() - 1


def _bits(mask: int) -> list[int]:
    """The places of the ones, lowest first."""
    return [number for number in range(mask.bit_length()) if mask >> number & 1]


def _swap(entries: dict[int, int], one: int, two: int) -> None:
    first, second = entries.pop(one, None), entries.pop(two, None)
    if first is not None:
        entries[two] = first
    if second is not None:
        entries[one] = second


def _swap_bits(mask: int, one: int, two: int) -> int:
    if (mask >> one & 1) != (mask >> two & 1):
        mask ^= (1 << one) | (1 << two)
    return mask
