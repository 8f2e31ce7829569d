internal import Bytes

/// The header of a file of uncompressed samples.
struct SampleHead {
  let coding: SampleCoding
  let shape: SoundShape
  let count: Int64
  /// The size of the samples, in bytes.
  let bodySize: Int64
  let tags: MediaTags
  /// The size of the chunks after the samples, in bytes.
  let tailSize: Int

  private var bits: Int { coding.size * 8 }
  private var step: Int { coding.size * shape.channels }
  private var isFloat: Bool { if case .float = coding { true } else { false } }

  // MARK: Formats of Microsoft and Sony

  /// The header of a WAV file. RF64 (EBU 3306) if the file is too large for RIFF.
  var wav: [UInt8] {
    let rest = Self.chunk("fmt ", form) + information + Array("data".utf8)
    let padded = bodySize + bodySize % 2
    // The number of bytes after the first size.
    let size = Int64(4 + rest.count + 4 + tailSize) + padded
    guard size > UInt32.max else {
      return Array("RIFF".utf8) + Self.little(UInt32(size)) + Array("WAVE".utf8) + rest + Self.little(UInt32(bodySize))
    }
    let sizes = Self.little(UInt64(size + 36)) + Self.little(UInt64(bodySize)) + Self.little(UInt64(count))
    return Array("RF64".utf8) + Self.little(UInt32.max) + Array("WAVE".utf8)
      + Self.chunk("ds64", sizes + Self.little(UInt32(0))) + rest + Self.little(UInt32.max)
  }

  var w64: [UInt8] {
    let form = form
    // The last chunk is not padded, since readers would take the padding for samples.
    let whole = Int64(40 + 24 + form.count + 24) + bodySize
    return Self.guid("riff", Self.riff) + Self.little(UInt64(whole)) + Self.guid("wave", Self.other)
      + Self.guid("fmt ", Self.other) + Self.little(UInt64(24 + form.count)) + form
      + Self.guid("data", Self.other) + Self.little(UInt64(24 + bodySize))
  }

  private static let riff: [UInt8] = [0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28, 0xdb, 0x04, 0xc1, 0x00, 0x00]
  private static let other: [UInt8] = [0xf3, 0xac, 0xd3, 0x11, 0x8c, 0xd1, 0x00, 0xc0, 0x4f, 0x8e, 0xdb, 0x8a]

  private static func guid(_ name: String, _ rest: [UInt8]) -> [UInt8] { Array(name.utf8) + rest }

  /// WAVEFORMATEX, or WAVEFORMATEXTENSIBLE if that is insufficient. Its size is a multiple of 8 bytes.
  private var form: [UInt8] {
    let isPlain = shape.channels <= 2 && bits == 16
    let tag: UInt16 = isFloat ? 3 : 1
    let common =
      Self.little(UInt16(shape.channels)) + Self.little(UInt32(shape.rate)) + Self.little(UInt32(shape.rate * step))
      + Self.little(UInt16(step)) + Self.little(UInt16(bits))
    if isPlain { return Self.little(tag) + common }
    let identity: [UInt8] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
    return Self.little(UInt16(0xfffe)) + common + Self.little(UInt16(22)) + Self.little(UInt16(bits))
      + Self.little(UInt32(truncatingIfNeeded: shape.speakers)) + Self.little(tag) + identity
  }

  private var information: [UInt8] {
    let names = [
      ("INAM", "title"), ("IART", "artist"), ("IPRD", "album"), ("IPRT", "track"), ("ICRD", "date"), ("IGNR", "genre"),
      ("ICMT", "comment"), ("ICOP", "copyright"),
    ]
    let chunks = names.flatMap { chunk, name -> [UInt8] in
      tags[name].map { Self.chunk(chunk, Array($0.utf8) + [0]) } ?? []
    }
    return chunks.isEmpty ? [] : Self.chunk("LIST", Array("INFO".utf8) + chunks)
  }

  static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
    Array(name.utf8) + little(UInt32(bytes.count)) + bytes + (bytes.count % 2 == 1 ? [0] : [])
  }

  // MARK: Formats of Apple

  var aiff: [UInt8] {
    let common =
      Self.big(UInt16(shape.channels)) + Self.big(UInt32(truncatingIfNeeded: count)) + Self.big(UInt16(bits)) + extended
    let form = isFloat ? "AIFC" : "AIFF"
    let version = isFloat ? Self.bigChunk("FVER", Self.big(UInt32(0xa280_5140))) : []
    let names = [("NAME", "title"), ("AUTH", "artist"), ("(c) ", "copyright"), ("ANNO", "comment")]
    let texts = names.flatMap { chunk, name -> [UInt8] in
      tags[name].map { Self.bigChunk(chunk, Array($0.utf8)) } ?? []
    }
    // An empty Pascal string.
    let coded = isFloat ? common + Array("fl32".utf8) + [0, 0] : common
    let rest = Array(form.utf8) + version + Self.bigChunk("COMM", coded) + texts + Array("SSND".utf8)
    let size = Int64(rest.count + 12 + tailSize) + bodySize + bodySize % 2
    return Array("FORM".utf8) + Self.big(UInt32(size)) + rest + Self.big(UInt32(bodySize + 8))
      + [UInt8](repeating: 0, count: 8)
  }

  /// The sample rate as a floating-point number of 80 bits.
  private var extended: [UInt8] {
    let rate = UInt64(shape.rate)
    let shift = rate.leadingZeroBitCount
    return Self.big(UInt16(16383 + 63 - shift)) + Self.big(rate << UInt64(shift))
  }

  var caf: [UInt8] {
    let description =
      Self.big(Double(shape.rate).bitPattern) + Array("lpcm".utf8) + Self.big(UInt32(isFloat ? 1 : 0))
      + Self.big(UInt32(step)) + Self.big(UInt32(1)) + Self.big(UInt32(shape.channels)) + Self.big(UInt32(bits))
    let layout = Self.big(UInt32(1 << 16)) + Self.big(UInt32(truncatingIfNeeded: shape.speakers)) + Self.big(UInt32(0))
    let texts = tags.entries.flatMap { entry -> [UInt8] in
      Array(entry.name.utf8) + [0] + Array(entry.value.utf8) + [0]
    }
    let information =
      texts.isEmpty ? [] : Self.longChunk("info", Self.big(UInt32(tags.entries.count)) + texts)
    return Array("caff".utf8) + [0, 1, 0, 0] + Self.longChunk("desc", description)
      + (shape.speakers == 0 ? [] : Self.longChunk("chan", layout)) + information
      + Array("data".utf8) + Self.big(UInt64(bodySize + 4)) + [0, 0, 0, 0]
  }

  // MARK: The format of Sun

  var au: [UInt8] {
    let names = [("title", "title"), ("author", "artist"), ("album", "album"), ("track", "track"), ("genre", "genre")]
    let text = names.compactMap { key, name in tags[name].map { "\(key)=\($0)\n" } }.joined()
    let note = Array(text.utf8) + [UInt8](repeating: 0, count: 8 - text.utf8.count % 8)
    let coding: UInt32 = isFloat ? 6 : UInt32(bits / 8 + 1)
    let size = bodySize < UInt32.max ? UInt32(bodySize) : UInt32.max
    return Array(".snd".utf8) + Self.big(UInt32(24 + note.count)) + Self.big(size) + Self.big(coding)
      + Self.big(UInt32(shape.rate)) + Self.big(UInt32(shape.channels)) + note
  }

  // MARK: Numbers

  private static func little(_ number: some FixedWidthInteger) -> [UInt8] { [UInt8](littleEndian: number) }
  private static func big(_ number: some FixedWidthInteger) -> [UInt8] { [UInt8](littleEndian: number).reversed() }

  static func bigChunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
    Array(name.utf8) + big(UInt32(bytes.count)) + bytes + (bytes.count % 2 == 1 ? [0] : [])
  }

  private static func longChunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
    Array(name.utf8) + big(UInt64(bytes.count)) + bytes
  }
}
