#!/usr/bin/env python3
"""make_encrypted_office.py FOLDER PASSWORD [ROUNDS]

Writes a letter and a package of OpenDocument that are encrypted in all ways that ffmount reads, and in some that it
does not: [MS-OFFCRYPTO] in compound files ([MS-CFB]), and OpenDocument 1.3, part 2, sections 3 and 4. ROUNDS replaces
the number of rounds of those for which it is free.
"""

import base64
import ctypes
import hashlib
import hmac
import io
import os
import random
import struct
import sys
import zipfile
import zlib

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

folder, password = sys.argv[1], sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
random.seed(4711)


def noise(count):
    """Returns bytes that are the same in each run."""
    return random.randbytes(count)


def write(name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def aes(mode, key, data):
    """Encrypts whole blocks."""
    encryptor = Cipher(algorithms.AES(key), mode).encryptor()
    return encryptor.update(data) + encryptor.finalize()


def padded(data, size=16):
    """Appends zeros up to a multiple of `size`."""
    return data + bytes(-len(data) % size)


# Packages

TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
LINKS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
    "</Relationships>"
)
LETTER = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>'
    "Dear Anna, herring 4711</w:t></w:r></w:p></w:body></w:document>"
)
OASIS = "urn:oasis:names:tc:opendocument:xmlns"
CONTENT = (
    f'<office:document-content xmlns:office="{OASIS}:office:1.0" xmlns:text="{OASIS}:text:1.0" office:version="1.3">'
    "<office:body><office:text><text:p>Dear Anna, herring 4711</text:p></office:text></office:body>"
    "</office:document-content>"
)
STYLES = f'<office:document-styles xmlns:office="{OASIS}:office:1.0" office:version="1.3"/>'
TYPE = "application/vnd.oasis.opendocument.text"


def archive(files):
    """Returns a ZIP archive of (name, data, whether it is compressed)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, data, is_compressed in files:
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED if is_compressed else zipfile.ZIP_STORED
            made.writestr(info, data)
    return buffer.getvalue()


letter = archive([
    ("[Content_Types].xml", TYPES, True), ("_rels/.rels", LINKS, True), ("word/document.xml", LETTER, True),
    ("word/media/noise.bin", noise(9000), False),
])
short = archive([
    ("[Content_Types].xml", TYPES, True), ("_rels/.rels", LINKS, True), ("word/document.xml", LETTER, True),
])


# Compound files

def compound(streams, size=512, is_scattered=False):
    """Returns a compound file with these streams in its root. Sectors have `size` bytes."""
    none, last, table = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    small, places, small_table = b"", {}, []
    for name, data in streams.items():
        if len(data) < 4096:
            first, count = len(small) // 64, -(-len(data) // 64)
            places[name] = first
            small += padded(data, 64)
            small_table += [first + index + 1 for index in range(count - 1)] + [last]
    parts = {"": small, "directory": bytes(128 * (1 + len(streams)))}
    parts["small"] = struct.pack(f"<{len(small_table)}I", *small_table)
    parts.update({name: data for name, data in streams.items() if len(data) >= 4096})
    counts = {name: -(-len(data) // size) for name, data in parts.items()}
    total = sum(counts.values())
    tables = 1
    while tables * (size // 4) < total + tables:
        tables += 1
    free = list(range(tables, tables + total))
    if is_scattered:
        random.shuffle(free)
    fat = [none] * (tables * size // 4)
    fat[:tables] = [table] * tables
    sectors = [b""] * (tables + total)
    for name, data in parts.items():
        own, free = free[: counts[name]], free[counts[name] :]
        if not own:
            continue
        places[name] = own[0]
        for index, sector in enumerate(own):
            fat[sector] = own[index + 1] if index + 1 < len(own) else last
            sectors[sector] = data[index * size : (index + 1) * size]

    def entry(name, kind, left, right, child, start, length):
        text = name.encode("utf-16-le")
        return (
            text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text) + 2, kind, 1, left, right, child) + bytes(16)
            + struct.pack("<I16xIQ", 0, start, length)
        )

    names = list(streams)
    directory = entry("Root Entry", 5, none, none, 1, places.get("", last), len(small))
    for index, name in enumerate(names):
        right = index + 2 if index + 1 < len(names) else none
        directory += entry(name, 2, none, right, none, places[name], len(streams[name]))
    rest = places["directory"]
    for index in range(counts["directory"]):
        sectors[rest] = directory[index * size : (index + 1) * size]
        rest = fat[rest]
    packed = struct.pack(f"<{len(fat)}I", *fat)
    for index in range(tables):
        sectors[index] = packed[index * size : (index + 1) * size]
    shift = size.bit_length() - 1
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack(
        "<HHHHH6xIIIIIIIIII", 0x3E, 4 if size == 4096 else 3, 0xFFFE, shift, 6, 0, tables, places["directory"], 0, 4096,
        places.get("small", last), counts["small"], last, 0, 0,
    )
    # The number of sectors of the directory is 0 in files with small sectors.
    header = header[:76] + struct.pack("<109I", *(list(range(tables)) + [none] * (109 - tables)))
    return header.ljust(size, b"\0") + b"".join(sector.ljust(size, b"\0") for sector in sectors)


# Office 2010

def agile(package, bits=256, name="SHA512", spins=None, text=None, changed=False):
    """Returns (EncryptionInfo, EncryptedPackage)."""
    spins = rounds if spins is None else spins
    size = bits // 8

    def digest(*pieces):
        return hashlib.new(name.lower(), b"".join(pieces)).digest()

    def sized(data, count):
        return data[:count].ljust(count, b"\x36")

    salt, package_salt, key = noise(16), noise(16), noise(size)
    state = digest(salt, (text or password).encode("utf-16-le"))
    for index in range(min(spins, rounds)):
        state = digest(struct.pack("<I", index), state)

    def value(purpose, data):
        own = sized(digest(state, bytes.fromhex(purpose)), size)
        return base64.b64encode(aes(modes.CBC(sized(salt, 16)), own, padded(data))).decode()

    segments = []
    for number, start in enumerate(range(0, len(package), 4096)):
        vector = sized(digest(package_salt, struct.pack("<I", number)), 16)
        segments.append(aes(modes.CBC(vector), key, padded(package[start : start + 4096])))
    stream = struct.pack("<Q", len(package)) + b"".join(segments)

    def integrity(purpose, data):
        vector = sized(digest(package_salt, bytes.fromhex(purpose)), 16)
        return base64.b64encode(aes(modes.CBC(vector), key, padded(data))).decode()

    sum_key = noise(len(digest(b"")))
    total = hmac.new(sum_key, stream, name.lower()).digest()
    if changed:
        stream = stream[:-1] + bytes([stream[-1] ^ 1])
    verifier = noise(16)
    attributes = (
        f'saltSize="16" blockSize="16" keyBits="{bits}" hashSize="{len(digest(b""))}" cipherAlgorithm="AES" '
        f'cipherChaining="ChainingModeCBC" hashAlgorithm="{name}" saltValue='
    )
    space = "http://schemas.microsoft.com/office/2006"
    info = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
        f'<encryption xmlns="{space}/encryption" xmlns:p="{space}/keyEncryptor/password">'
        f'<keyData {attributes}"{base64.b64encode(package_salt).decode()}"/>'
        f'<dataIntegrity encryptedHmacKey="{integrity("5fb2ad010cb9e1f6", sum_key)}" '
        f'encryptedHmacValue="{integrity("a0677f02b22c8433", total)}"/>'
        f'<keyEncryptors><keyEncryptor uri="{space}/keyEncryptor/password"><p:encryptedKey spinCount="{spins}" '
        f'{attributes}"{base64.b64encode(salt).decode()}" '
        f'encryptedVerifierHashInput="{value("fea7d2763b4b9e79", verifier)}" '
        f'encryptedVerifierHashValue="{value("d7aa0f6d3061344e", digest(verifier))}" '
        f'encryptedKeyValue="{value("146e0be7abacd0d6", key)}"/></keyEncryptor></keyEncryptors></encryption>'
    )
    return bytes.fromhex("0400040040000000") + info.encode(), stream


# Office 2007

def standard(package, bits=128, cipher=None):
    """Returns (EncryptionInfo, EncryptedPackage)."""
    def digest(*pieces):
        return hashlib.sha1(b"".join(pieces)).digest()

    salt, verifier = noise(16), noise(16)
    state = digest(salt, password.encode("utf-16-le"))
    for index in range(50_000):
        state = digest(struct.pack("<I", index), state)
    state = digest(state, bytes(4))
    halves = [digest(bytes((state[place] if place < 20 else 0) ^ mask for place in range(64))) for mask in (0x36, 0x5C)]
    key = b"".join(halves)[: bits // 8]
    number = {128: 0x660E, 192: 0x660F, 256: 0x6610}[bits]
    header = struct.pack("<8I", 0x24, 0, cipher or number, 0x8004, bits, 0x18, 0, 0) + "AES\0".encode("utf-16-le")
    info = (
        bytes.fromhex("0300020024000000") + struct.pack("<I", len(header)) + header + struct.pack("<I", 16) + salt
        + aes(modes.ECB(), key, verifier) + struct.pack("<I", 20) + aes(modes.ECB(), key, padded(digest(verifier)))
    )
    return info, struct.pack("<Q", len(package)) + aes(modes.ECB(), key, padded(package))


def office(name, parts, names=("EncryptionInfo", "EncryptedPackage"), **options):
    write(name, compound(dict(zip(names, parts)), **options))


# OpenDocument

def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def encoded(data):
    return base64.b64encode(data).decode()


def manifest(entries, head="", version=' manifest:version="1.3"'):
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{head}<manifest:manifest xmlns:manifest="{OASIS}:manifest:1.0" '
        'xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'
        f'{version}>{"".join(entries)}</manifest:manifest>'
    )


def described(path, size, kind, sum_type, algorithm, vector, start, derivation):
    name, check = sum_type
    digest = f' manifest:checksum-type="{name}" manifest:checksum="{encoded(check)}"' if name else ""
    return (
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{kind}" manifest:size="{size}">'
        f'<manifest:encryption-data{digest}><manifest:algorithm manifest:algorithm-name="{algorithm}" '
        f'manifest:initialisation-vector="{encoded(vector)}"/>{start}{derivation}</manifest:encryption-data>'
        "</manifest:file-entry>"
    )


def blowfish(data):
    """Returns the encryption of OpenOffice.org 2 and of OpenDocument 1.0."""
    salt, vector = noise(16), noise(8)
    key = hashlib.pbkdf2_hmac("sha1", hashlib.sha1(password.encode()).digest(), salt, 1024, 16)
    packed = deflated(data)
    encryptor = Cipher(algorithms.Blowfish(key), modes.CFB(vector)).encryptor()
    derivation = (
        f'<manifest:key-derivation manifest:key-derivation-name="PBKDF2" manifest:iteration-count="1024" '
        f'manifest:salt="{encoded(salt)}"/>'
    )
    made = encryptor.update(packed) + encryptor.finalize()
    return made, ("SHA1/1K", hashlib.sha1(packed[:1024]).digest()), "Blowfish CFB", vector, "", derivation


START = (
    '<manifest:start-key-generation manifest:start-key-generation-name="http://www.w3.org/2000/09/xmldsig#sha256" '
    'manifest:key-size="32"/>'
)


def chained(data):
    """Returns the encryption of OpenDocument 1.2 by LibreOffice."""
    salt, vector = noise(16), noise(16)
    key = hashlib.pbkdf2_hmac("sha1", hashlib.sha256(password.encode()).digest(), salt, rounds, 32)
    packed = deflated(data)
    missing = 16 - len(packed) % 16
    made = aes(modes.CBC(vector), key, packed + noise(missing - 1) + bytes([missing]))
    derivation = (
        f'<manifest:key-derivation manifest:key-derivation-name="PBKDF2" manifest:key-size="32" '
        f'manifest:iteration-count="{rounds}" manifest:salt="{encoded(salt)}"/>'
    )
    check = (f"{OASIS}:manifest:1.0#sha256-1k", hashlib.sha256(packed[:1024]).digest())
    return made, check, "http://www.w3.org/2001/04/xmlenc#aes256-cbc", vector, START, derivation


def whole(data, memory=1 << 16):
    """Returns the encryption of a whole package by LibreOffice since version 24."""
    salt, vector = noise(16), noise(12)
    first, key = hashlib.sha256(password.encode()).digest(), ctypes.create_string_buffer(32)
    library = ctypes.CDLL("libargon2.so.1")
    sizes = [ctypes.c_size_t(count) for count in (len(first), len(salt), 32)]
    if library.argon2id_hash_raw(3, min(memory, 1 << 16), 4, first, sizes[0], salt, sizes[1], key, sizes[2]):
        sys.exit("libargon2 failed")
    made = vector + AESGCM(key.raw).encrypt(vector, deflated(data), None)
    derivation = (
        '<manifest:key-derivation manifest:key-derivation-name='
        '"urn:org:documentfoundation:names:experimental:office:manifest:argon2id" manifest:key-size="32" '
        f'loext:argon2-iterations="3" loext:argon2-memory="{memory}" loext:argon2-lanes="4" '
        f'manifest:salt="{encoded(salt)}"/>'
    )
    return made, ("", b""), "http://www.w3.org/2009/xmlenc11#aes256-gcm", vector, START, derivation


def entry(path, kind):
    return f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{kind}"/>'


def document(encrypt, **options):
    """Returns a package in which each file but for two is encrypted."""
    files, entries = [("mimetype", TYPE, False)], [entry("/", TYPE)]
    for path, data, kind in [
        ("content.xml", CONTENT.encode(), "text/xml"),
        ("Pictures/a &amp; b.bin", random.Random(7).randbytes(70_000), ""),
        ("styles.xml", STYLES.encode(), "text/xml"),
    ]:
        made, *description = encrypt(data)
        files.append((path.replace("&amp;", "&"), made, False))
        entries.append(described(path, len(data), kind, *description))
    files.append(("META-INF/manifest.xml", manifest(entries, **options), True))
    return archive(files)


def plain_document():
    return archive([
        ("mimetype", TYPE, False), ("content.xml", CONTENT, True),
        ("META-INF/manifest.xml", manifest([entry("/", TYPE), entry("content.xml", "text/xml")]), True),
    ])


def whole_document(**options):
    inner = plain_document()
    made, *description = whole(inner, **options)
    entries = [entry("/", TYPE), described("encrypted-package", len(inner), TYPE, *description)]
    return archive([("mimetype", TYPE, False), ("encrypted-package", made, False),
                    ("META-INF/manifest.xml", manifest(entries), True)])


write("plain.docx", letter)
write("plain.odt", plain_document())
office("agile.docx", agile(letter))
office("agile1.docx", agile(letter, bits=128, name="SHA1"), is_scattered=True)
office("short.docx", agile(short, name="SHA384"))
office("upper.docx", agile(letter), names=("ENCRYPTIONINFO", "ENCRYPTEDPACKAGE"), size=4096)
office("standard.docx", standard(letter))
office("standard256.docx", standard(letter, bits=256))
office("other.docx", agile(letter, text=password + "-2"))
office("rc4.docx", standard(letter, cipher=0x6801))
office("changed.docx", agile(letter, changed=True))
office("slow.docx", agile(letter, spins=10_000_000))
write("old.odt", document(
    blowfish, head='<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd">\n',
    version=""))
write("new.odt", document(chained))
write("whole.odt", whole_document())
write("greedy.odt", whole_document(memory=4 << 20))
