"""Interpreters of terms that need no solver: integers, NumPy arrays, SymPy, text, source code.

Each module folds the same terms (`layout_algebra.folding`); none of them knows what a layout is.
`arrays` imports NumPy and `expressions` imports SymPy, so they are imported where they are used.
"""
