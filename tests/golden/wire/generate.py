#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden frames of the agent protocol, by docs/agent-protocol.md and not by codec.hpp.

  generate.py          writes NAME.bin and NAME.txt (every field with its bytes) beside this file
  generate.py --check  fails when a file differs from what would be written

tests/unit/wire/samples.hpp has the same messages as C++ values.
"""

import pathlib
import struct
import sys

NUMBERS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "i64": "q"}


def encode(kind, value):
    if isinstance(kind, str) and kind in NUMBERS:
        return struct.pack("<" + NUMBERS[kind], value)
    if kind == "text":
        data = value.encode()
        return encode("u32", len(data)) + data
    if isinstance(kind, list):  # a list of kind[0]
        return encode("u32", len(value)) + b"".join(encode(kind[0], v) for v in value)
    if isinstance(kind, tuple):  # a struct without names
        return b"".join(encode(k, v) for k, v in zip(kind, value, strict=True))
    if isinstance(kind, dict):  # {"optional": kind}
        there = value is not None
        return encode("u8", there) + (encode(kind["optional"], value) if there else b"")
    raise ValueError(kind)


def clocks(mono, cpu, cost_mono, cost_cpu, thread):
    return [
        ("clocks.mono_ns", "i64", mono),
        ("clocks.cpu_ns", "i64", cpu),
        ("clocks.cost_mono_ns", "i64", cost_mono),
        ("clocks.cost_cpu_ns", "i64", cost_cpu),
        ("clocks.thread", "u32", thread),
    ]


def optional(kind):
    return {"optional": kind}


PLUGIN = ("text", "text", "text", [("u8", "u8", "u64", "text")])  # id, library, hash, options
RULE = (
    "text",  # place
    optional("u8"),  # kind
    optional("text"),  # group
    optional("u8"),  # dtype
    optional(["u32"]),  # ranks
    optional(["i64"]),  # shape
    optional("u64"),  # call
    PLUGIN,
)
CONSTANT = ("constant", "/lib/libprism_constant.so", "0123456789abcdef",
            [(3, 1, 0x3FF0000000000000, "")])  # a real number, 1.0

MESSAGES = {
    "hello": (1, [
        ("rank", "u32", 3),
        ("world_size", "u32", 65536),
        ("pid", "u64", 0x0102030405060708),
        ("framework", "text", "torch 2.11.0+cu130"),
        ("agent", "text", "0.1.0"),
        *clocks(1_000_000_001, 2_000_002, 300, 200, 0),
    ]),
    "group": (2, [
        ("id", "u32", 7),
        ("member", "u8", 1),
        ("name", "text", "dp_é"),
        ("description", "text", "data parallel"),
        ("backend", "text", "gloo"),
        ("ranks", ["u32"], [0, 8, 16, 4294967295]),
        *clocks(-1, -2, 0, 0, 4),
    ]),
    "op": (3, [
        ("id", "u64", 42),
        ("group", "u32", 7),
        ("sequence", "u64", 1 << 40),
        ("batch", "u64", 5),
        ("kind", "u8", 4),  # all-to-all
        ("reduction", "u8", 0),  # none
        ("dtype", "u8", 17),  # u64
        ("flags", "u8", 3),  # asynchronous, coalesced
        ("peer", "i32", -2),  # any source
        ("tag", "i32", -5),
        ("input_bytes", "u64", 48),
        ("output_bytes", "u64", 0xFFFFFFFFFFFFFFFF),
        ("send_bytes", ["u64"], [16, 32]),
        ("recv_bytes", ["u64"], [8, 0, 1 << 33]),
        *clocks(9223372036854775807, -9223372036854775808, 1, 2, 4294967295),
    ]),
    "wait": (4, [
        ("op", "u64", 42),
        ("via", "u8", 2),  # future
        *clocks(11, 12, 13, 14, 1),
    ]),
    "done": (5, [
        ("op", "u64", 42),
        ("made_up", [("u8", "u64", "text")], [(1, 4096, ""), (4, 7, "tokens")]),
        *clocks(21, 22, 23, 24, 2),
    ]),
    "mark": (6, [
        ("kind", "u8", 3),  # end of an optimizer step
        ("name", "text", "AdamW"),
        *clocks(31, 32, 33, 34, 0),
    ]),
    "bye": (7, [
        ("reason", "u8", 3),  # sys.exit
        ("exit_code", "i32", -9),
        ("detail", "text", ""),
        ("files", ["text"], ["train.py", "", "lib/model.py"]),
        *clocks(41, 42, 43, 44, 0),
    ]),
    "welcome": (16, [
        ("seed", "u64", 0x1122334455667788),
        ("rules", [RULE], [
            # A receive of type i64 on "data parallel", by rank 3 or 7, of shape [any, 4], the third.
            ("exp.toml:31", 11, "data parallel", 5, [3, 7], [-1, 4], 2, CONSTANT),
            ("", None, None, None, None, None, None, ("zeros", "", "", [])),
        ]),
        ("router", optional(PLUGIN), ("zipf", "/lib/zipf.so", "00ff", [(4, 0, 0, ""), (7, 1, 0, "/é")])),
    ]),
    "verdict": (17, [
        ("to", "u64", 9),
        ("decision", "u8", 4),  # abort
        ("reason", "text", "rank 3 diverged"),
    ]),
}


def frame(type_number, fields, seq):
    """Bytes of a frame, and lines that show them."""
    body = b"".join(encode(kind, value) for _, kind, value in fields)
    header = [
        ("magic", "u32", 0x4D535250),
        ("version", "u16", 2),
        ("type", "u16", type_number),
        ("length", "u32", len(body)),
        ("reserved", "u32", 0),
        ("seq", "u64", seq),
    ]
    data, lines = b"", []
    for name, kind, value in header + fields:
        piece = encode(kind, value)
        for start in range(0, len(piece), 16):
            label = f"{name} = {value!r}" if start == 0 else ""
            lines.append(f"{len(data) + start:04x}  {piece[start:start + 16].hex(' '):<47}  {label}".rstrip())
        data += piece
    return data, "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(__file__).parent
    files = {}
    stream = b""
    for seq, (name, message) in enumerate(MESSAGES.items(), start=1):
        data, text = frame(*message, seq=1)
        files[f"{name}.bin"] = data
        files[f"{name}.txt"] = text.encode()
        stream += frame(*message, seq=seq)[0]
    files["stream.bin"] = stream  # all of them, seq 1, 2, ...

    if sys.argv[1:] == ["--check"]:
        different = [n for n, d in files.items()
                     if not (folder / n).exists() or (folder / n).read_bytes() != d]
        if different:
            sys.exit("differ from what generate.py writes: " + ", ".join(different))
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        for name, data in files.items():
            (folder / name).write_bytes(data)


main()
