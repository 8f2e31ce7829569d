import Foundation

/// Deflate streams as zlib makes them, by way of python3.
public struct ZipStream: Sendable, CustomStringConvertible {
  public let description: String
  public let plain: [UInt8]
  /// Of the plain bytes.
  public let crc: UInt32
  public let compressed: [UInt8]
  public let compressedCRC: UInt32

  /// How a stream of a few mebibytes is made, in Python: each line appends to `out` from `plain`.
  public static let recipes: [(name: String, code: String)] = [
    ("level 1", "out = deflate(1)"),
    ("level 6", "out = deflate(6)"),
    ("level 9", "out = deflate(9)"),
    ("stored blocks", "out = deflate(0)"),
    ("fixed Huffman codes", "out = deflate(6, zlib.Z_FIXED)"),
    ("Huffman codes without copies", "out = deflate(6, zlib.Z_HUFFMAN_ONLY)"),
    ("a full flush every 100,000 bytes", "out = flushed(zlib.Z_FULL_FLUSH, 100000)"),
    ("a sync flush every 777 bytes", "out = flushed(zlib.Z_SYNC_FLUSH, 777)"),
  ]

  private static let prelude = """
    import random, sys, zlib
    random.seed(7)
    words = [random.randbytes(random.randrange(2, 12)) for _ in range(3000)]
    plain = bytearray()
    while len(plain) < 5 << 20:
        kind = random.randrange(20)
        if kind == 0: plain += random.randbytes(random.randrange(40000))
        elif kind == 1: plain += bytes([random.randrange(256)]) * random.randrange(60000)
        else: plain += b"".join(random.choices(words, k=3000))
    plain = bytes(plain[:(5 << 20) + 12345])
    def write(data):
        head = len(data).to_bytes(8, "little") + zlib.crc32(data).to_bytes(4, "little")
        sys.stdout.buffer.write(head + data)
    def deflate(level, strategy=zlib.Z_DEFAULT_STRATEGY):
        z = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
        return z.compress(plain) + z.flush()
    def flushed(mode, every):
        z = zlib.compressobj(6, zlib.DEFLATED, -15)
        parts = []
        for at in range(0, len(plain), every):
            parts += [z.compress(plain[at:at + every]), z.flush(mode)]
        return b"".join(parts) + z.flush()
    """

  /// All recipes' streams of one content; none where there is no python3.
  public static func makeAll() throws -> [ZipStream] {
    var code = prelude + "\nwrite(plain)\n"
    for recipe in recipes { code += recipe.code + "\nwrite(out)\n" }
    guard let output = try python(code) else { return [] }
    var parts: [(bytes: [UInt8], crc: UInt32)] = []
    var rest = output[...]
    while rest.count >= 12 {
      let count = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
      let crc = rest.dropFirst(8).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
      parts.append((Array(rest.dropFirst(12).prefix(count)), crc))
      rest = rest.dropFirst(12 + count)
    }
    guard parts.count == recipes.count + 1 else { return [] }
    return zip(recipes, parts.dropFirst()).map { recipe, part in
      ZipStream(
        description: recipe.name, plain: parts[0].bytes, crc: parts[0].crc, compressed: part.bytes,
        compressedCRC: part.crc)
    }
  }

  /// What a python3 program writes; nil where there is none.
  public static func python(_ code: String) throws -> [UInt8]? {
    let path = "/usr/bin/python3"
    let found = FileManager.default.isExecutableFile(atPath: path) ? [path] : ["/usr/bin/env", "python3"]
    let process = Process()
    process.executableURL = URL(fileURLWithPath: found[0])
    process.arguments = found.dropFirst() + ["-c", code]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? Array(output) : nil
  }
}
