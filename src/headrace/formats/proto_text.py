"""The text of a .proto file → its descriptor. Names of types stay as written: the descriptor pool resolves them.

Understood is what describes values: messages, enums, maps, oneofs, imports, reserved numbers and the options that
change meaning. Services, extensions and other options are read over. Editions are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from headrace.errors import InvalidInput
from headrace.formats.proto_tokens import ProtoTokens, unquoted

TEXT_CHARACTERS_MAX: Final = 1_000_000
NESTING_MAX: Final = 32

_SCALARS: Final = {
    name: FieldDescriptorProto.Type.Value(f"TYPE_{name.upper()}")
    for name in (
        *("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string"),
        *("bytes", "uint32", "sfixed32", "sfixed64", "sint32", "sint64"),
    )
}
_LABELS: Final = {
    "optional": FieldDescriptorProto.LABEL_OPTIONAL,
    "required": FieldDescriptorProto.LABEL_REQUIRED,
    "repeated": FieldDescriptorProto.LABEL_REPEATED,
}
_BOOLEANS: Final = {"true": True, "false": False}
_LAST_NUMBER: Final = 536_870_911  # the greatest that a field may have


def parse_proto(text: str, name: str) -> FileDescriptorProto:
    """Raises InvalidInput with the place where the text is no .proto file, or one that is not understood."""
    if len(text) > TEXT_CHARACTERS_MAX:
        raise InvalidInput(f"the .proto text is longer than {TEXT_CHARACTERS_MAX} characters")
    return _Parser(text).file(name)


class _Parser(ProtoTokens):
    """One method for each part of the grammar; each begins behind the word that names the part."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._syntax = "proto2"

    def file(self, name: str) -> FileDescriptorProto:
        made = FileDescriptorProto(name=name)
        while self.peek():
            word = self.next()
            if word == "syntax":
                self._read_syntax(made)
            elif word == "package":
                made.package = self._statement()
            elif word == "import":
                self._import(made)
            elif word == "message":
                made.message_type.append(self._message())
            elif word == "enum":
                made.enum_type.append(self._enum())
            elif word in ("option", "service", "extend"):
                self._skip_statement()
            elif word != ";":
                raise self.failure("syntax, package, import, message, enum, option or service", back=1)
        return made

    def _read_syntax(self, made: FileDescriptorProto) -> None:
        self.expect("=")
        self._syntax = self.string()
        if self._syntax not in ("proto2", "proto3"):
            raise self.failure("proto2 or proto3", back=1)
        self.expect(";")
        if self._syntax == "proto3":
            made.syntax = self._syntax

    def _import(self, made: FileDescriptorProto) -> None:
        if self.peek() in ("public", "weak") and self.next() == "public":
            made.public_dependency.append(len(made.dependency))
        made.dependency.append(self.string())
        self.expect(";")

    def _message(self) -> DescriptorProto:
        made = DescriptorProto(name=self.identifier())
        self._body(lambda word: self._message_part(made, word))
        _finish_optional(made)
        return made

    def _message_part(self, made: DescriptorProto, word: str) -> None:
        if word == "message":
            made.nested_type.append(self._message())
        elif word == "enum":
            made.enum_type.append(self._enum())
        elif word == "oneof":
            self._oneof(made)
        elif word == "map" and self.peek() == "<":
            self._map(made)
        elif word == "reserved":
            self._reserved(made)
        elif word == "option" and self._option_is("map_entry", "message_set_wire_format"):
            raise self.failure("no such option")
        elif word in ("option", "extensions", "extend"):
            self._skip_statement()
        else:
            self.index -= 1
            self._field(made)

    def _field(self, made: DescriptorProto, oneof: int | None = None) -> None:
        label = self.next() if self.peek() in _LABELS and oneof is None else None
        if label is None and oneof is None and self._syntax == "proto2":
            raise self.failure("optional, required or repeated")
        field = made.field.add(label=_LABELS[label or "optional"])
        self._typed(field)
        field.name = self.identifier()
        self._numbered(field)
        if oneof is not None:
            field.oneof_index = oneof
        elif label == "optional" and self._syntax == "proto3":
            field.proto3_optional = True

    def _typed(self, field: FieldDescriptorProto) -> None:
        word = self.next()
        if word == "group":
            raise self.failure("a message: groups are not understood", back=1)
        if word in _SCALARS:
            field.type = _SCALARS[word]
        elif re.fullmatch(r"\.?[A-Za-z_][A-Za-z0-9_.]*", word):
            field.type_name = word
        else:
            raise self.failure("a type", back=1)

    def _numbered(self, field: FieldDescriptorProto) -> None:
        self.expect("=")
        field.number = self.number()
        if self.accept("["):
            self._field_options(field)
        self.expect(";")

    def _field_options(self, field: FieldDescriptorProto) -> None:
        while True:
            name = self._option_name()
            self.expect("=")
            value = self._value()
            if name == "packed" and value in _BOOLEANS:
                field.options.packed = _BOOLEANS[value]
            elif name == "json_name":
                field.json_name = unquoted(value)
            elif name == "default":
                field.default_value = unquoted(value) if value[0] in "\"'" else value
            if self.accept("]"):
                return
            self.expect(",")

    def _map(self, made: DescriptorProto) -> None:
        """A map is a repeated message of pairs, with a name that the descriptor's rules give it."""
        self.expect("<")
        entry = DescriptorProto()
        for name, number in (("key", 1), ("value", 2)):
            field = entry.field.add(name=name, number=number, label=_LABELS["optional"])
            self._typed(field)
            self.expect("," if name == "key" else ">")
        entry.options.map_entry = True
        field = made.field.add(name=self.identifier(), label=_LABELS["repeated"])
        entry.name = "".join(part[:1].upper() + part[1:] for part in field.name.split("_")) + "Entry"
        field.type_name = entry.name
        self._numbered(field)
        made.nested_type.append(entry)

    def _oneof(self, made: DescriptorProto) -> None:
        index = len(made.oneof_decl)
        made.oneof_decl.add(name=self.identifier())

        def part(word: str) -> None:
            if word == "option":
                self._skip_statement()
                return
            self.index -= 1
            self._field(made, index)

        self._body(part)

    def _enum(self) -> EnumDescriptorProto:
        made = EnumDescriptorProto(name=self.identifier())

        def part(word: str) -> None:
            if word == "option":
                if self._option_is("allow_alias"):
                    made.options.allow_alias = True
                self._skip_statement()
            elif word == "reserved":
                self._skip_statement()
            else:
                self.expect("=")
                made.value.add(name=word, number=self.number())
                if self.accept("["):
                    self._skip_until("]")
                self.expect(";")

        self._body(part)
        return made

    def _reserved(self, made: DescriptorProto) -> None:
        while True:
            if self.peek()[:1] in ("'", '"'):
                made.reserved_name.append(self.string())
            else:
                first = last = self.number()
                if self.accept("to"):
                    last = _LAST_NUMBER if self.accept("max") else self.number()
                made.reserved_range.add(start=first, end=last + 1)
            if self.accept(";"):
                return
            self.expect(",")

    def _body(self, part: Callable[[str], None]) -> None:
        self._depth += 1
        if self._depth > NESTING_MAX:
            raise self.failure(f"at most {NESTING_MAX} levels of nesting")
        self.expect("{")
        while not self.accept("}"):
            word = self.next()
            if word != ";":
                part(word)
        self._depth -= 1

    def _option_is(self, *names: str) -> bool:
        """Whether one of these options stands here, and is true."""
        return self.peek() in names and self.tokens[self.index + 1 : self.index + 3] == ["=", "true"]

    def _option_name(self) -> str:
        if not self.accept("("):
            return self.next()
        self._skip_until(")")
        return "(" + (self.next() if self.peek().startswith(".") else "")

    def _value(self) -> str:
        if self.accept("{"):
            self._skip_until("}", "{")
            return "{}"
        sign = self.next() if self.peek() in ("-", "+") else ""
        return (sign if sign == "-" else "") + self.next()

    def _skip_statement(self) -> None:
        """To the end of what began: its `;`, or the `}` of its block."""
        while (word := self.next()) != ";":
            if word == "{":
                self._skip_until("}", "{")
                return

    def _skip_until(self, closing: str, opening: str = "") -> None:
        open_count = 1
        while open_count:
            word = self.next()
            open_count += (word == opening) - (word == closing)

    def _statement(self) -> str:
        word = self.next()
        self.expect(";")
        return word


def _finish_optional(made: DescriptorProto) -> None:
    """An `optional` field of proto3 is, in a descriptor, alone in a oneof that nobody wrote; those come last."""
    for field in made.field:
        if field.proto3_optional:
            field.oneof_index = len(made.oneof_decl)
            made.oneof_decl.add(name=f"_{field.name}")
