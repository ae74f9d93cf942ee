"""Compiled maps.  The only package that imports numba; it imports no solver."""
