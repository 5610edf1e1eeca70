"""The bytes that JSON gives a meaning."""

from __future__ import annotations

QUOTE, COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, BACKSLASH = b'",:{}[]\\'
SPACE, TAB, LINE, RETURN, MINUS, PLUS, POINT, ZERO, NINE = b" \t\n\r-+.09"
SMALL_A, SMALL_E, LARGE_E, SMALL_T, SMALL_F, SMALL_N, SMALL_U, LARGE_T, LARGE_Z = b"aeEtfnuTZ"
# Those before it stand in no text.
CONTROL_END = 0x20
