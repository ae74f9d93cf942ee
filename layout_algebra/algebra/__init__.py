"""Operations on layouts, one a file: pure functions on the values of values.py."""
