internal import Foundation

/// Python programs that create inputs for tests.
public enum Python {
  /// The output of a python3 program; nil if there is no python3, or it fails.
  public static func output(of code: String) throws -> [UInt8]? {
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

  public struct Piece: Sendable {
    public let bytes: [UInt8]
    /// The bytes' CRC-32, by zlib.
    public let crc: UInt32
  }

  /// What a program passes to `give`, piece by piece; nil if there is no python3, or it fails.
  ///
  /// The program can use `mixture(size, seed)`, bytes that compress neither well nor badly, and Deflate streams by
  /// zlib: `deflate(plain, level, strategy)` and `flushed(plain, mode, every)`, which flushes every so many bytes.
  public static func pieces(of code: String) throws -> [Piece]? {
    guard let output = try output(of: prelude + "\n" + code) else { return nil }
    var pieces: [Piece] = []
    var rest = output[...]
    func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
    while rest.count >= 12 {
      let count = number(rest.prefix(8))
      let crc = UInt32(number(rest.dropFirst(8).prefix(4)))
      pieces.append(Piece(bytes: Array(rest.dropFirst(12).prefix(count)), crc: crc))
      rest = rest.dropFirst(12 + count)
    }
    return pieces
  }

  private static let prelude = """
    import random, sys, zlib
    def give(data):
        sys.stdout.buffer.write(len(data).to_bytes(8, "little") + zlib.crc32(data).to_bytes(4, "little") + data)
    def mixture(size, seed):
        random.seed(seed)
        words = [random.randbytes(random.randrange(2, 12)) for _ in range(3000)]
        plain = bytearray()
        while len(plain) < size:
            kind = random.randrange(20)
            if kind == 0: plain += random.randbytes(random.randrange(40000))
            elif kind == 1: plain += bytes([random.randrange(256)]) * random.randrange(100000)
            elif kind == 2: plain += plain[-66000:-500]
            else: plain += b"".join(random.choices(words, k=3000))
        return bytes(plain[:size])
    def deflate(plain, level, strategy=zlib.Z_DEFAULT_STRATEGY):
        z = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
        return z.compress(plain) + z.flush()
    def flushed(plain, mode, every):
        z = zlib.compressobj(6, zlib.DEFLATED, -15)
        parts = []
        for at in range(0, len(plain), every):
            parts += [z.compress(plain[at:at + every]), z.flush(mode)]
        return b"".join(parts) + z.flush()
    """
}
