import Foundation
import TestSupport
import Testing

/// An archive created by another program, and its contents.
struct MadeArchive: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let bytes: [UInt8]
  /// Empty if no password is needed.
  let password: String

  /// The contents of each archive, by name.
  static let contents: [String: [UInt8]] = made.contents
  static let all: [MadeArchive] = made.archives
  static let open = all.filter { $0.password.isEmpty }
  static let locked = all.filter { !$0.password.isEmpty }

  /// Each line creates one archive in a folder with the files `long`, `small`, `empty`.
  private static let recipes: [(name: String, password: String, code: String)] = [
    ("Deflate64 by 7z", "", "seven('-mm=Deflate64')"),
    ("Deflate64 by 7z, fastest", "", "seven('-mm=Deflate64', '-mx=1')"),
    ("bzip2 by 7z", "", "seven('-mm=BZip2')"),
    ("bzip2 by Python", "", "python(zipfile.ZIP_BZIP2)"),
    ("LZMA by 7z", "", "seven('-mm=LZMA')"),
    ("LZMA by 7z, without an end mark", "", "seven('-mm=LZMA:eos=off')"),
    ("LZMA by Python", "", "python(zipfile.ZIP_LZMA)"),
    ("Zstandard by zstd", "", "wrapped(93, ['zstd', '-q', '-c'])"),
    ("Zstandard by zstd, method 20", "", "wrapped(20, ['zstd', '-q', '-c', '-19'])"),
    ("Zstandard in two frames", "", "wrapped(93, ['zstd', '-q', '-c'], 2)"),
    ("bzip2 in two streams", "", "wrapped(12, ['bzip2', '-c'], 2)"),
    ("XZ by xz", "", "wrapped(95, ['xz', '-c'])"),
    ("XZ in two streams", "", "wrapped(95, ['xz', '-c', '-0'], 2)"),
    ("AES-128 and Deflate by 7z", "secret", "seven('-mem=AES128', '-psecret')"),
    ("AES-192 and bzip2 by 7z", "secret", "seven('-mem=AES192', '-mm=BZip2', '-psecret')"),
    ("AES-256, stored, by 7z", "secret", "seven('-mem=AES256', '-mm=Copy', '-psecret')"),
    ("AES-256 and LZMA by 7z", "secret", "seven('-mem=AES256', '-mm=LZMA', '-psecret')"),
    ("ZipCrypto and Deflate by 7z", "secret", "seven('-mem=ZipCrypto', '-psecret')"),
    ("ZipCrypto, stored, by 7z", "secret", "seven('-mem=ZipCrypto', '-mm=Copy', '-psecret')"),
    ("ZipCrypto and Deflate64 by 7z", "secret", "seven('-mem=ZipCrypto', '-mm=Deflate64', '-psecret')"),
    ("ZipCrypto by zip", "secret", "run(['zip', '-q', '-P', 'secret', 'a.zip'] + names)"),
    ("ZipCrypto by zip, stored", "secret", "run(['zip', '-q', '-0', '-P', 'secret', 'a.zip'] + names)"),
  ]

  private static let prelude = """
    import os, struct, subprocess, tempfile, zipfile
    long = mixture(1300 << 10, 11)
    files = {"long": long, "small": long[:5000], "empty": b""}
    names = list(files)
    def run(words, **more): return subprocess.run(words, check=True, stdout=subprocess.PIPE, **more).stdout
    def seven(*options): run(["7z", "a", "-bd", "-tzip", *options, "a.zip", *names])
    def python(method):
        with zipfile.ZipFile("a.zip", "w", method) as archive:
            for name in names: archive.write(name)
    def wrapped(method, command, parts=1):
        out, central = b"", b""
        for name in names:
            data, step = files[name], len(files[name]) // parts + 1
            packed = b"".join(run(command, input=data[i * step:(i + 1) * step]) for i in range(parts))
            fields = struct.pack("<HHHHHIIIHH", 63, 0, method, 0, 33, zlib.crc32(data), len(packed), len(data), len(name), 0)
            central += b"PK\\x01\\x02" + struct.pack("<H", 63) + fields + struct.pack("<HHHII", 0, 0, 0, 0, len(out))
            central += name.encode()
            out += b"PK\\x03\\x04" + fields + name.encode() + packed
        end = struct.pack("<HHHHIIH", 0, 0, len(names), len(names), len(central), len(out), 0)
        open("a.zip", "wb").write(out + central + b"PK\\x05\\x06" + end)
    os.chdir(tempfile.mkdtemp())
    for name in names:
        open(name, "wb").write(files[name])
        give(name.encode())
        give(files[name])
    """

  private static let made: (contents: [String: [UInt8]], archives: [MadeArchive]) = {
    var code = prelude
    for recipe in recipes {
      code += "\ntry: \(recipe.code)\nexcept Exception: give(b'')\nelse:"
      code += "\n    give(open('a.zip', 'rb').read())\n    os.remove('a.zip')"
    }
    code += "\nfor name in names: os.remove(name)\nos.rmdir(os.getcwd())\n"
    guard let parts = (try? Python.pieces(of: code))??.map(\.bytes), parts.count == 6 + recipes.count else {
      return ([:], [])
    }
    var contents: [String: [UInt8]] = [:]
    for index in 0..<3 { contents[String(decoding: parts[2 * index], as: UTF8.self)] = parts[2 * index + 1] }
    // Empty if the program that creates it is missing.
    let archives = zip(recipes, parts[6...]).filter { !$1.isEmpty }
      .map { MadeArchive(testDescription: $0.name, bytes: $1, password: $0.password) }
    return (contents, archives)
  }()
}
