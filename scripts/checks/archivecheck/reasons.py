"""Why an archive is not shown as other programs unpack it: found out by running them, or told by its exact name."""
from archivecheck import readers, trees

FORMATS = [
    (b"7z\xbc\xaf\x27\x1c", 0, "7z"), (b"Rar!\x1a\x07\x00", 0, "RAR 4"), (b"Rar!\x1a\x07\x01\x00", 0, "RAR 5"),
    (b"CD001", 0x8001, "ISO 9660"), (b"07070", 0, "cpio"), (b"\xc7\x71", 0, "cpio"), (b"\x71\xc7", 0, "cpio"),
    (b"!<arch>\n", 0, "ar"), (b"\xed\xab\xee\xdb", 0, "rpm"), (b"MSCF", 0, "cab"), (b"-l", 2, "LHA"), (b"xar!", 0, "xar"),
    (b"WARC/", 0, "WARC"), (b"#mtree", 0, "mtree"), (b"ustar", 257, "TAR"), (b"PK", 0, "ZIP"), (b"\x1f\x8b", 0, "gzip"),
    (b"BZh", 0, "bzip2"), (b"\xfd7zXZ", 0, "xz"), (b"\x28\xb5\x2f\xfd", 0, "Zstandard"), (b"\x1f\x9d", 0, "compress"),
    (b"\x04\x22\x4d\x18", 0, "LZ4"), (b"LZIP", 0, "lzip"), (b"]\0\0", 0, "LZMA"), (b"\x89LZO", 0, "lzop"),
    (b"MZ", 0, "program"), (b"\x7fELF", 0, "program"),
]
# The exact name, what differs, and why.
LONGER = (["size", "time", "unreadable"], "its entries have more bytes than they say: EIO; unar alone writes what there is")
NO_FILES = (["unreadable"], "a list without any file's bytes: EIO; bsdtar makes files of zeros")
TOLD = {
    "test_fuzz.lzh": (["mode"], "has a folder several times: the last one's mode is shown, bsdtar sets an earlier one's"),
    "test_option_stdout_size_exceeds_declared_deflate.zip": LONGER,
    "test_option_stdout_size_exceeds_declared_stored.zip": LONGER,
    "test_patterns_4.tar": (["missing", "more"], "has `..` and nothing between slashes within names, shown as `?`; bsdtar refuses it"),
    "test_read_data_into_fd_size_exceeds_declared_deflate.zip": LONGER,
    "test_read_data_into_fd_size_exceeds_declared_stored.zip": LONGER,
    "test_read_format_gtar_sparse_skip_entry.tar.Z": (["size"], "a sparse file is one byte longer than GNU tar makes it: as for bsdtar, which does not read on"),
    "test_read_format_iso_rockridge_ce_loop.iso.Z": ([], "makes libarchive take gigabytes of memory: ends at the worker's limit"),
    "test_read_format_iso_rockridge_zf_overflow.iso": (["missing", "more"], "a folder lies beyond the end, and an entry has no name, shown as `?`; bsdtar refuses it"),
    "test_read_format_mtree_nomagic.mtree": NO_FILES,
    "test_read_format_mtree_nomagic2.mtree": NO_FILES,
    "test_read_format_mtree_nomagic3.mtree": NO_FILES,
    "test_read_format_tar_pax_large_attr.tar.Z": (["missing"], "has an attribute of 8 MB: headers are read up to 1 MiB"),
    "test_read_format_zip_7075_utf8_paths.zip": (["missing", "more"], "names of code page 437, and Unicode Path fields with wrong checksums: every other program makes something else of them"),
    "test_read_format_zip_extra_padding.zip": ([], "has no end record: the entries are read by their local headers, and the view says so"),
    "test_read_format_zip_size_exceeds_declared_deflate.zip": LONGER,
    "test_read_format_zip_size_exceeds_declared_stored.zip": LONGER,
    "test_read_format_zip_uncompressed_size_off_by_4gib.zip": (["mode", "time", "unreadable"], "an entry is stored in 5 bytes and said to have 4 GiB more: EIO"),
    "test_read_format_zip_zipx_lzma_oom.zipx": (["missing", "more"], "is cut off; its entry has no name, shown as `?`; unar gives it the archive's"),
}


def format_of(archive):
    with open(archive, "rb") as file:
        head = file.read(0x8010)
    return next((name for mark, place, name in FORMATS if head[place:].startswith(mark)), "other")


# Read by libarchive in a worker.
LISTED = ["7z", "RAR 4", "RAR 5", "ISO 9660", "cpio", "ar", "rpm", "cab", "LHA", "xar", "WARC", "mtree", "program"]
# Of these bsdtar starts other programs.
FOREIGN = [(b"\x89LZO", "lzop"), (b"LRZI", "lrzip"), (b"GRZip", "grzip"), (b"begin ", "uudecode")]


def reason(comparison):
    """One word, and a sentence; None if there is no reason."""
    archive = comparison.archive
    if archive.name in TOLD:
        kinds, why = TOLD[archive.name]
        return ("told", why) if comparison.kinds == kinds else (None, None)
    if (index := readers.later_part(archive)) is not None:
        return "later part", f"part {index + 1} of a set"
    if "ncrypted" in comparison.said.replace(archive.name, "") and (name := readers.encrypted_by(archive)):
        return "encrypted", f"{comparison.said} ({name} says so, too)"
    with open(archive, "rb") as file:
        head = file.read(8)
    foreign = next((name for mark, name in FOREIGN if head.startswith(mark)), None)
    if foreign and not comparison.own:
        return "foreign", f"compressed by {foreign}, which bsdtar starts"
    results = comparison.results.values()
    if all(result.status != 0 or not result.tree for result in results):
        if any(trees.contradictions(comparison.own, result.tree) for result in results):
            return None, None
        if comparison.said:
            return "unread", f"by no program; {comparison.said}"
        return ("ours alone", "by no other program") if comparison.own else ("no archive", "for nobody")
    # What libarchive cannot read we cannot.
    bsdtar = comparison.results["bsdtar"]
    if comparison.said and bsdtar.status != 0 and format_of(archive) in LISTED:
        if not trees.contradictions(comparison.own, bsdtar.tree):
            return "libarchive", f"bsdtar does not read it either: {bsdtar.words}"
    return None, None
