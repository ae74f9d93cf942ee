r"""Calculates what a LaTeX formula says: sums, products, floors, `\bmod` and bit operations.

    value(r"4 i + \left\lfloor \frac{j}{2} \right\rfloor \bmod 4", {"i": 1, "j": 3})    # 5

Written from how mathematicians read it: `\bmod` binds tighter than a sum and looser than a product.
"""

import re
from fractions import Fraction
from math import floor

TOKEN = re.compile(
    r"\\left\\lfloor|\\right\\rfloor|\\left\(|\\right\)|\\frac|\\bmod|\\oplus|\\cdot"
    r"|\\mathbin\{\\&\}|\\mathbin\{\|\}|\\mathrm\{[^{}]*\}|[A-Za-z]_\{\d+\}'*|[A-Za-z]|\d+"
    r"|[-+^{}]"
)
BITS = {r"\oplus": int.__xor__, r"\mathbin{\&}": int.__and__, r"\mathbin{|}": int.__or__}
ENDS = {r"\right)", r"\right\rfloor", "}", None}


def rows(latex):
    """Left side -> right side of an `aligned` block."""
    inner = re.fullmatch(r"\\begin\{aligned\}(.*)\\end\{aligned\}", latex)[1]
    return dict(row.split(" &= ", 1) for row in inner.split(r" \\ ") if " &= " in row)


def value(text, point):
    """The number of a formula at a point, by the names as they are written."""
    reader = Reader(text, point)
    found = reader.bits()
    assert reader.next() is None, text
    assert Fraction(found).denominator == 1, text
    return int(found)


class Reader:
    def __init__(self, text, point):
        self.tokens = TOKEN.findall(text)
        assert "".join(self.tokens) == text.replace(" ", ""), text
        self.at, self.point = 0, point

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, expected=None):
        token = self.next()
        assert expected in (None, token), (expected, token, self.tokens)
        self.at += 1
        return token

    def bits(self):
        found = self.sum()
        while self.next() in BITS:
            sign = BITS[self.take()]
            found = sign(int(found), int(self.sum()))
        return found

    def sum(self):
        negative = self.next() == "-" and self.take()
        found = -self.mod() if negative else self.mod()
        while self.next() in ("+", "-"):
            found = found + self.mod() if self.take() == "+" else found - self.mod()
        return found

    def mod(self):
        found = self.product()
        while self.next() == r"\bmod":
            self.take()
            found = found % self.product()
        return found

    def product(self):
        found = self.factor()
        while self.next() not in ENDS | set(BITS) | {"+", "-", r"\bmod"}:
            if self.next() == r"\cdot":
                self.take()
            found = found * self.factor()
        return found

    def factor(self):
        found = self.atom()
        if self.next() == "^":
            self.take()
            found = found ** self.group()
        return found

    def group(self):
        self.take("{")
        found = self.bits()
        self.take("}")
        return found

    def atom(self):
        token = self.take()
        if token == r"\left(":
            found = self.bits()
            self.take(r"\right)")
            return found
        if token == r"\left\lfloor":
            found = floor(self.bits())
            self.take(r"\right\rfloor")
            return found
        if token == r"\frac":
            above = self.group()
            return Fraction(above) / Fraction(self.group())
        if token.isdigit():
            return int(token)
        return self.point[token]
