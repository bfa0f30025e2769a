"""How long a message is in flight: distributions of delays in whole nanoseconds.

Each maps 64 random bits to a delay with integer arithmetic and tables only, so that the same draw gives the
same delay on every platform.  The delay grows with the bits: it is the distribution's quantile function.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

from labkit.sim.random_streams import RandomStream

_WORD_BITS = 64
_ALL = 1 << _WORD_BITS
_HALF = _ALL >> 1


class Latency(NamedTuple):
    """A distribution of delays: its shape and two numbers.  Made by the methods named for the shapes."""

    shape: str
    first_ns: int
    second_ns: int = 0

    @classmethod
    def constant(cls, delay_ns: int) -> Latency:
        """Always the same delay; nothing is drawn."""
        return cls("constant", *_checked("constant", delay_ns))

    @classmethod
    def uniform(cls, low_ns: int, high_ns: int) -> Latency:
        """Any delay from low to high, both included, all equally likely."""
        low_ns, high_ns = _checked("uniform", low_ns, high_ns)
        if high_ns < low_ns:
            raise ValueError(f"a uniform latency goes from low to high, not from {low_ns} to {high_ns} ns")
        return cls("uniform", low_ns, high_ns)

    @classmethod
    def normal(cls, mean_ns: int, deviation_ns: int) -> Latency:
        """The bell curve, cut off at 5.4 deviations either side and at zero; exact to 0.001 deviations."""
        return cls("normal", *_checked("normal", mean_ns, deviation_ns))

    @classmethod
    def exponential(cls, mean_ns: int, least_ns: int = 0) -> Latency:
        """`least_ns` plus an exponential part; `mean_ns` is the mean of the sum."""
        mean_ns, least_ns = _checked("exponential", mean_ns, least_ns)
        if mean_ns < least_ns:
            raise ValueError(f"an exponential latency's mean is its least or more, not {mean_ns} ns")
        return cls("exponential", mean_ns, least_ns)

    @classmethod
    def heavy(cls, least_ns: int, most_ns: int) -> Latency:
        """A heavy tail (Pareto, exponent 2), capped: one delay in a hundred is over ten times the least."""
        least_ns, most_ns = _checked("heavy", least_ns, most_ns)
        if most_ns < least_ns or least_ns == 0:
            raise ValueError(f"a heavy latency goes from 1 ns or more up, not {least_ns} to {most_ns} ns")
        return cls("heavy", least_ns, most_ns)

    @property
    def typical_ns(self) -> int:
        """The mean; routes are weighted by it."""
        if self.shape == "uniform":
            return (self.first_ns + self.second_ns) // 2
        if self.shape == "heavy":
            return 2 * self.first_ns - self.first_ns * self.first_ns // self.second_ns
        return self.first_ns

    def times(self, factor: int) -> Latency:
        """The same shape with all delays multiplied."""
        return Latency(self.shape, self.first_ns * factor, self.second_ns * factor)

    def draw_ns(self, stream: RandomStream) -> int:
        """Draw the delay of one message."""
        return self.delay_ns((stream.words or stream.refill()).pop())

    def delay_ns(self, word: int) -> int:
        """The delay that belongs to 64 random bits."""
        shape, first_ns, second_ns = self
        if shape == "constant":
            return first_ns
        if shape == "uniform":
            return first_ns + ((second_ns - first_ns + 1) * word >> _WORD_BITS)
        if shape == "normal":
            return max(0, first_ns + second_ns * _deviations(word) // _MILLION)
        if shape == "exponential":
            return second_ns + (first_ns - second_ns) * _means(word) // _BILLION
        return min(second_ns, (first_ns << 32) // isqrt(_ALL - word))

    def __str__(self) -> str:
        second = "" if self.shape == "constant" else f", {self.second_ns}"
        return f"{self.shape}({self.first_ns}{second} ns)"


def _checked(shape: str, *times_ns: int) -> tuple[int, ...]:
    for time_ns in times_ns:
        if type(time_ns) is not int or time_ns < 0:
            raise ValueError(f"a {shape} latency is made of whole nanoseconds from 0 up, not {time_ns!r}")
    return times_ns


# The standard normal distribution, in millionths of a deviation.  Knots lie where the tail's probability is
# 2^-k × (16 - j) / 16, for k from 1 to 24 and j from 0 to 7, and at 2^-25: eight to each halving of the tail.
_MILLION = 1_000_000
_OCTAVES = 24
_CELL_BITS = 3
_NORMAL_TABLE = """
0 78412 157311 237202 318639 402250 488776 579132 674490 724514 776422 830511 887147 946782 1009990
1077516 1150349 1189164 1229859 1272699 1318011 1366204 1417797 1473468 1534121 1566689 1601009 1637325
1675940 1717228 1761670 1809892 1862732 1891229 1921351 1953324 1987428 2024014 2063528 2106554 2153875
2179469 2206575 2235407 2266227 2299362 2335233 2374387 2417559 2440956 2465771 2492204 2520502 2550976
2584020 2620152 2660067 2681732 2704733 2729260 2755549 2783892 2814665 2848359 2885635 2905889 2927411
2950380 2975021 3001611 3030511 3062186 3097269 3116349 3136636 3158301 3181560 3206678 3233998 3263969
3297193 3315276 3334512 3355067 3377146 3401005 3426972 3455479 3487104 3504327 3522656 3542251 3563308
3586074 3610866 3638099 3668329 3684801 3702336 3721091 3741252 3763060 3786819 3812930 3841931 3857739
3874574 3892584 3911953 3932911 3955753 3980866 4008773 4023990 4040199 4057546 4076207 4096404 4118426
4142645 4169569 4184255 4199903 4216653 4234676 4254189 4275470 4298883 4324919 4339125 4354265 4370473
4387918 4406810 4427419 4450099 4475328 4489097 4503774 4519490 4536408 4554733 4574729 4596740 4621231
4634600 4648853 4664118 4680553 4698359 4717792 4739188 4763001 4776003 4789866 4804715 4820706 4838033
4856947 4877777 4900964 4913627 4927129 4941595 4957175 4974060 4992494 5012798 5035406 5047754 5060923
5075032 5090231 5106705 5124693 5144509 5166578 5178633 5191491 5205270 5220113 5236204 5253777 5273138
5294704 5306486 5319054 5332523 5347035 5362768 5379952 5398888 5419983
"""
_NORMAL_KNOTS = tuple(map(int, _NORMAL_TABLE.split()))


def _deviations(word: int) -> int:
    """Quantile of the standard normal distribution, in millionths."""
    tail = word if word < _HALF else _ALL - 1 - word
    bits = tail.bit_length()
    octave = _WORD_BITS - 1 - bits  # how often the tail was halved
    if octave >= _OCTAVES:
        size = _NORMAL_KNOTS[-1]
    else:
        shift = bits - 1 - _CELL_BITS
        depth = (1 << bits) - 1 - tail
        size = _between(_NORMAL_KNOTS, (octave << _CELL_BITS) + (depth >> shift), depth, shift)
    return -size if word < _HALF else size


def _means(word: int) -> int:
    """Quantile of the exponential distribution of mean 1, -ln(1 - u), in billionths."""
    remainder = _ALL - word
    shift = _WORD_BITS + 1 - remainder.bit_length()
    mantissa = (remainder << shift) - _ALL  # the fraction behind the leading one
    cell_shift = _WORD_BITS - _LOG_CELL_BITS
    halvings = shift * _BILLION - _between(_LOG_KNOTS, mantissa >> cell_shift, mantissa, cell_shift)
    return halvings * _LN_2 // _BILLION


def _between(knots: tuple[int, ...], place: int, position: int, shift: int) -> int:
    """The value between two knots, interpolated by the lowest `shift` bits of the position."""
    low = knots[place]
    return low + ((knots[place + 1] - low) * (position & ((1 << shift) - 1)) >> shift)


_BILLION = 1_000_000_000
_LN_2 = 693_147_181  # billionths
_LOG_CELL_BITS = 6


def _log_2(cell: int) -> int:
    """log2(1 + cell / 64) in billionths, bit by bit: squaring a number doubles its logarithm."""
    power, found = _ALL + (cell << (_WORD_BITS - _LOG_CELL_BITS)), 0
    for _ in range(40):
        power = power * power >> _WORD_BITS
        found <<= 1
        if power >= 2 * _ALL:
            power >>= 1
            found += 1
    return found * _BILLION >> 40


_LOG_KNOTS = (*(_log_2(cell) for cell in range(1 << _LOG_CELL_BITS)), _BILLION)
