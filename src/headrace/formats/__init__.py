"""Values of records ⇄ Arrow columns, one file for each format."""

from headrace.formats.codecs import decoder
from headrace.formats.decoding import Bad, Decoded, Decoder

__all__ = ["Bad", "Decoded", "Decoder", "decoder"]
