"""Writes files of Outlook's with folders of messages (MS-PST, Unicode): make_pst.py [--cipher permute|cyclic] FILE [MESSAGES [BYTES]].

Without a number, a few messages of all kinds; else so many, each with so many bytes attached.
"""

import struct
import sys
import zlib
from pathlib import Path

TIME = 0x40
WIDE = 0x1F
BINARY = 0x102
LONG = 3
OBJECT = 0x0D


def checksum(data: bytes) -> int:
    return zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF


def signature(place: int, number: int) -> int:
    both = (place ^ number) & 0xFFFFFFFF
    return (both >> 16) ^ (both & 0xFFFF)


# How data are hidden (MS-PST, section 5.1): what each byte becomes.
FIRST = bytes.fromhex(
    "41361362a8216ebbf416cc047f64e85d1ef2cb2a74c55e35d295479e962d9a884c7d843fdbac31b6485ff6c4d8398be7"
    "233b388ec8c1df25b120a546604e9cfbaad35651457c550007c92b9d859b09a08fadb30f63ab894bd7a7155a716642bf"
    "264a6b98faea7753b270052cfd593a867ece06eb827857c78d43afb41cd45bcde2e9274fc3087280cfb0eff5286dbe30"
    "4d3492d50e3c2232e5e4f99fc2d10a8112e1ee918376e397e6618a1779a4b7dc907a5c8c02a6ca69de501a1193b95287"
    "58fced1d37491b6ae0293399bd6cd994f340546ff0c673b8d63e6518441fdd6710f10c19ecae03a1147ba90bfff8a3c0"
    "a201f72ebc2468750dfeba2fb5d0da3d")
SECOND = bytes.fromhex(
    "14530f56b3c87a9ceb65481716159f02cc547c83000d0c0ba262a876dbd9edc7c5a4dcac8574d6d0a79bae9a967166c3"
    "6399b8dd73928e847da55ed15d93b1575150808952944f4e0a6bbc8d7f6e47464140440111cb033ff7f4e1a98f3c3af9"
    "fbf0193082092ec99da08649ee6f4d6dc42d813425871b88aafc06a11238fd4c4272641337246a757743ffe6b44b365c"
    "e4d8353d45b92cecb7312b290768a30e697b189e2139be281a5b78f523ca2ab0af3efe048ce7e5983295d3f64ae8a6ea"
    "e9f3d52f7020f21f0567ad5510cecde3273bdabad7c226d4911dd21c2233f8faf15aefcf90b68bb5bdc0bf08971e6ce2"
    "61e0c6c159abbb58de5fdf60797eb28a")
THIRD = bytes(FIRST.index(byte) for byte in range(256))


def enciphered(data: bytes, cipher: int, number: int) -> bytes:
    """A block's bytes as they are in a file (sections 5.1 and 5.2); `number` is the block's."""
    if cipher == 0:
        return data
    if cipher == 1:
        return data.translate(FIRST)
    word = (number ^ number >> 16) & 0xFFFF
    result = bytearray()
    for byte in data:
        low, high = word & 0xFF, word >> 8
        byte = SECOND[(FIRST[(byte + low) & 0xFF] + high) & 0xFF]
        result.append(THIRD[(byte - high) & 0xFF] - low & 0xFF)
        word = (word + 1) & 0xFFFF
    return bytes(result)


class Store:
    """A file that is written block by block; the B-trees follow at the end."""

    def __init__(self, path: str, cipher: int = 0) -> None:
        self.cipher = cipher
        self.file = open(path, "wb")
        self.file.write(bytes(0x400))
        self.place = 0x400
        self.count = 1
        self.blocks: list[tuple[int, int, int]] = []
        self.nodes: list[tuple[int, int, int, int]] = []
        self.folders = 0x500
        self.messages = 0x10001

    def block(self, data: bytes, isInner: bool = False) -> int:
        number = self.count << 2 | (2 if isInner else 0)
        self.count += 1
        padding = -(len(data) + 16) % 64
        if not isInner:
            data = enciphered(data, self.cipher, number)
        trailer = struct.pack("<HHIQ", len(data), signature(self.place, number), checksum(data), number)
        self.blocks.append((number, self.place, len(data)))
        self.file.write(data + bytes(padding) + trailer)
        self.place += len(data) + padding + 16
        return number

    def data(self, data: bytes) -> int:
        """Of any size."""
        if len(data) <= 8176:
            return self.block(data)
        parts = [self.block(data[start:start + 8176]) for start in range(0, len(data), 8176)]
        lists = []
        for start in range(0, len(parts), 1020):
            some = parts[start:start + 1020]
            size = min(len(data) - start * 8176, 1020 * 8176)
            lists.append(self.block(struct.pack("<BBHI", 1, 1, len(some), size) + struct.pack(f"<{len(some)}Q", *some), True))
        if len(lists) == 1:
            return lists[0]
        return self.block(struct.pack("<BBHI", 1, 2, len(lists), len(data)) + struct.pack(f"<{len(lists)}Q", *lists), True)

    def subnodes(self, nodes: list[tuple[int, int, int]]) -> int:
        if not nodes:
            return 0
        entries = b"".join(struct.pack("<QQQ", *node) for node in sorted(nodes))
        return self.block(struct.pack("<BBHI", 2, 0, len(nodes), 0) + entries, True)

    # Heaps and tables

    @staticmethod
    def heap(kind: int, parts: list[bytes], root: int) -> bytes:
        body = b""
        places = []
        for part in parts:
            places.append(12 + len(body))
            body += part
        places.append(12 + len(body))
        body += bytes(len(body) % 2)
        table = struct.pack("<HH", len(parts), 0) + struct.pack(f"<{len(places)}H", *places)
        return struct.pack("<HBBII", 12 + len(body), 0xEC, kind, root << 5, 0) + body + table

    def properties(self, values: list[tuple[int, int, object]], more: list[tuple[int, int, int]] = ()) -> tuple[int, int]:
        """The block of a list of properties, and that of its nodes, `more` among them."""
        nodes = list(more)
        parts: list[bytes] = [b"", b""]
        records = b""
        room = 3000
        for tag, kind, value in sorted(values, key=lambda value: value[0]):
            if kind == LONG:
                records += struct.pack("<HHI", tag, kind, value)
                continue
            data = value.encode("utf-16-le") if kind == WIDE else struct.pack("<Q", value) if kind == TIME else value
            if kind == OBJECT:
                data = struct.pack("<II", *value)
            if len(data) > room:
                node = 0x10000 + len(nodes) << 5 | 0x1F
                nodes.append((node, self.data(data), 0))
                records += struct.pack("<HHI", tag, kind, node)
                continue
            room -= len(data)
            parts.append(data)
            records += struct.pack("<HHI", tag, kind, len(parts) << 5 if data else 0)
        parts[0] = struct.pack("<BBBBI", 0xB5, 2, 6, 0, 2 << 5)
        parts[1] = records
        return self.block(self.heap(0xBC, parts, 1)), self.subnodes(nodes)

    def table(self, columns: list[tuple[int, int]], rows: list[tuple[int, dict[int, object]]]) -> int:
        """A table with a row for each identifier. Columns are in the order of their numbers."""
        every = [(0x67F2, LONG), (0x67F3, LONG)] + columns
        parts: list[bytes] = [b"", b"", b"", b""]
        described = b""
        for bit, (tag, kind) in enumerate(every):
            described += struct.pack("<IHBB", tag << 16 | kind, 4 * bit, 4, bit)
        size = 4 * len(every)
        bitmap = (len(every) + 7) // 8
        index = matrix = b""
        for number, (identifier, values) in enumerate(rows):
            index += struct.pack("<II", identifier, number)
            row = struct.pack("<II", identifier, number)
            bits = 0xC0
            for bit, (tag, kind) in enumerate(columns, 2):
                value = values.get(tag)
                if value is None:
                    row += bytes(4)
                    continue
                bits |= 0x80 >> bit
                if kind != LONG:
                    parts.append(value.encode("utf-16-le"))
                    value = len(parts) << 5
                row += struct.pack("<I", value)
            matrix += row + bytes([bits])[:bitmap]
        ends = struct.pack("<HHHH", size, size, size, size + bitmap)
        parts[0] = struct.pack("<BB", 0x7C, len(every)) + ends + struct.pack(
            "<III", 2 << 5, 4 << 5 if rows else 0, 0) + described
        parts[1] = struct.pack("<BBBBI", 0xB5, 4, 4, 0, 3 << 5 if rows else 0)
        parts[2], parts[3] = index, matrix
        return self.block(self.heap(0x7C, parts, 1))

    # What there is

    def message(self, values: list, attachments: list = (), recipients: list = ()) -> tuple[int, int]:
        """An attachment is a name, a type, an id and its bytes, or a name and a message."""
        nodes = []
        if recipients:
            columns = [(0x0C15, LONG), (0x3001, WIDE), (0x3002, WIDE), (0x3003, WIDE), (0x39FE, WIDE)]
            rows = [(number, {0x0C15: kind, 0x3001: name, 0x3002: "SMTP", 0x3003: to, 0x39FE: to})
                    for number, (kind, name, to) in enumerate(recipients)]
            nodes.append((0x692, self.table(columns, rows), 0))
        if attachments:
            rows = [(0x8025 + 32 * number, {}) for number in range(len(attachments))]
            nodes.append((0x671, self.table([(0x0E20, LONG)], rows), 0))
        for number, attachment in enumerate(attachments):
            if len(attachment) == 2:
                name, (data, sub) = attachment
                inner = 0x20004 + 32 * number
                block, below = self.properties(
                    [(0x3001, WIDE, name), (0x3705, LONG, 5), (0x3701, OBJECT, (inner, 100))], [(inner, data, sub)])
            else:
                name, kind, content, data = attachment
                block, below = self.properties(
                    [(0x3707, WIDE, name), (0x370E, WIDE, kind), (0x3705, LONG, 1), (0x3701, BINARY, data),
                     (0x3714, LONG, 4 if content else 0)] + ([(0x3712, WIDE, content)] if content else []))
            nodes.append((0x8025 + 32 * number, block, below))
        return self.properties(values, nodes)

    def folder(self, name: str, parent: int, messages: list[tuple[int, int]], inner: list[int], own: int = 0,
               listed: list[int] = ()) -> int:
        own = own or self.folders << 5 | 2
        self.folders += 1
        rows = []
        for data, sub in messages:
            number = self.messages << 5 | 4
            self.messages += 1
            self.nodes.append((number, data, sub, own))
            rows.append((number, {}))
        block, sub = self.properties([(0x3001, WIDE, name), (0x3602, LONG, len(messages)), (0x3603, LONG, 0)])
        self.nodes.append((own, block, sub, parent))
        inner = [(number, {}) for number in list(inner) + list(listed)]
        self.nodes.append((own & ~31 | 13, self.table([(0x3602, LONG)], inner), 0, 0))
        self.nodes.append((own & ~31 | 14, self.table([(0x3602, LONG)], rows), 0, 0))
        self.nodes.append((own & ~31 | 15, self.table([(0x3602, LONG)], []), 0, 0))
        return own

    def tree(self, kind: int, entries: list[tuple[int, bytes]], size: int, most: int) -> tuple[int, int]:
        """Pages of a B-tree; gives the number and the place of its root."""
        level = 0
        while True:
            above = []
            for start in range(0, max(1, len(entries)), most):
                some = entries[start:start + most]
                number = self.count << 2
                self.count += 1
                self.place += -self.place % 512
                self.file.seek(self.place)
                body = b"".join(entry for _, entry in some).ljust(488, b"\0")
                body += struct.pack("<BBBBI", len(some), most, size, level, 0)
                self.file.write(body + struct.pack(
                    "<BBHIQ", kind, kind, signature(self.place, number), checksum(body), number))
                above.append((some[0][0], struct.pack("<QQQ", some[0][0], number, self.place)))
                self.place += 512
            if len(above) == 1:
                return number, self.place - 512
            entries, size, most, level = above, 24, 20, level + 1

    def close(self) -> None:
        store, sub = self.properties([(0x3001, WIDE, "Made"), (0x35E0, BINARY, bytes(20) + struct.pack("<I", 0x8022))])
        self.nodes.append((0x21, store, sub, 0))
        names, sub = self.properties([(1, LONG, 1), (2, BINARY, bytes(16)), (3, BINARY, bytes(8)), (4, BINARY, bytes(4))])
        self.nodes.append((0x61, names, sub, 0))
        nodes = [(node[0], struct.pack("<QQQII", *node, 0)) for node in sorted(self.nodes)]
        blocks = [(block[0], struct.pack("<QQHHI", *block, 2, 0)) for block in sorted(self.blocks)]
        nbt = self.tree(0x81, nodes, 32, 15)
        bbt = self.tree(0x80, blocks, 24, 20)
        header = struct.pack("<HHHBBII", 0x4D53, 23, 19, 1, 1, 0, 0) + struct.pack("<QQI", 0, self.count << 2, 1)
        header += struct.pack("<32I", *[0x400] * 32) + bytes(8)
        header += struct.pack("<IQQQQ", 0, self.place, 0x4400, 0, 0) + struct.pack("<QQQQ", *nbt, *bbt) + bytes(4)
        header += bytes(4) + b"\xff" * 256 + struct.pack("<BBHQ", 0x80, self.cipher, 0, self.count << 2)
        full = struct.pack("<II", 0x4E444221, checksum(header[:471])) + header
        full += struct.pack("<I", checksum(header[:516]))
        self.file.seek(0)
        self.file.write(full)
        self.file.close()


def mail(subject: str, text: str, number: int = 1, more: list = (), flags: int = 1) -> list:
    sent = (1_700_000_000 + 60 * number + 11_644_473_600) * 10_000_000
    return [(0x1A, WIDE, "IPM.Note"), (0x37, WIDE, "\x01\x01" + subject), (0x39, TIME, sent), (0x0E06, TIME, sent),
            (0x1000, WIDE, text), (0x0C1A, WIDE, "Jürgen"), (0x0C1F, WIDE, "j@example.org"), (0x0E07, LONG, flags),
            (0x1035, WIDE, f"<{number}@example.org>"), *more]


def few(store: Store) -> None:
    picture = bytes(range(256)) * 1200
    to = [(1, "Anna", "anna@example.org"), (2, "Ötzi", "o@example.org")]
    inner = store.message(mail("Inner", "inside", 9), [("deep.bin", "application/x-deep", "", b"deep" * 5000)])
    page = b"<html><body><p>Gr\xfc\xdfe <img src='cid:pic'></p></body></html>"
    letters = [
        store.message(mail("Prüfung 日本", "Grüße\r\n", 1, flags=0), [], to),
        store.message(
            mail("Re: Prüfung 日本", "text", 2, [(0x1013, BINARY, page), (0x3FDE, LONG, 1252), (0x1081, LONG, 102)]),
            [("Bild ä.png", "image/png", "pic", picture), ("empty.txt", "text/plain", "", b""), ("Inner", inner)], to),
    ]
    received = "Received: by x\r\nFrom: Karl <karl@example.org>\r\nSubject: As it came\r\nMessage-ID: <came@x>\r\n" \
        "Content-Type: text/plain\r\nDate: Tue, 14 Nov 2023 10:00:00 +0100\r\n\r\n"
    came = store.message(mail("As Outlook has it", "came", 3, [(0x7D, WIDE, received), (0x1090, LONG, 2)]))
    project = store.folder("A/B", 0x8042, [came], [])
    inbox = store.folder("Inbox", 0x8022, letters, [project], 0x8042)
    note = store.message([(0x1A, WIDE, "IPM.StickyNote"), (0x37, WIDE, "Milk"), (0x1000, WIDE, "Buy milk")])
    # A folder that claims to hold the one that it is in.
    notes = store.folder("Notes", 0x8022, [note], [], 0x8062, listed=[0x8022])
    store.folder("Top", 0x122, [], [inbox, notes], 0x8022)
    settings = store.folder("Settings", 0x122, [store.message([(0x1A, WIDE, "IPM.Configuration.X")])], [])
    store.folder("", 0x122, [], [0x8022, settings], 0x122)


def many(store: Store, count: int, size: int) -> None:
    groups: dict[int, list[int]] = {}
    for first in range(0, count, 300):
        group = 0x10000 + first // 90_000 << 5 | 2
        letters = []
        for number in range(first, min(count, first + 300)):
            attached = [(f"{number}.bin", "application/octet-stream", "", (b"%08d" % number) * (size // 8))] if size else []
            letters.append(store.message(mail(f"Message {number}", f"Word{number} and more.\r\n" * 60, number), attached))
        groups.setdefault(group, []).append(store.folder(f"Folder {first // 300}", group, letters, []))
    for group, folders in groups.items():
        store.folder(f"Group {group >> 5}", 0x8022, [], folders, group)
    store.folder("Top", 0x122, [], list(groups), 0x8022)
    store.folder("", 0x122, [], [0x8022], 0x122)


cipher = 0
if sys.argv[1] == "--cipher":
    cipher = ["none", "permute", "cyclic"].index(sys.argv[2])
    del sys.argv[1:3]
store = Store(sys.argv[1], cipher)
if len(sys.argv) > 2:
    many(store, int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
else:
    few(store)
store.close()
