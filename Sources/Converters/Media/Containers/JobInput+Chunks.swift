internal import Bytes
internal import WorkerKit

extension JobInput {
  /// The share of the samples of a WAV, Wave64 or CAF file that is there, if its header records more. 1 for other files,
  /// and if the length was not known when the header was written.
  var cutOfSamples: Double {
    guard let form = ChunkForm.all.first(where: { read($0.mark.count, at: 0) == $0.mark }) else { return 1 }
    var place = form.start
    for _ in 0..<Self.mostChunks {
      let head = read(form.headSize, at: place)
      guard head.count == form.headSize, let size = form.size(head) else { return 1 }
      place += form.headSize
      if head.starts(with: form.data) {
        guard size > count - place, place < count, size < form.unknownSize else { return 1 }
        return Double(count - place) / Double(size)
      }
      guard size < count else { return 1 }
      place += (size + form.alignment - 1) / form.alignment * form.alignment
    }
    return 1
  }

  private static let mostChunks = 1000
}

/// A format of files that consist of chunks, each with a head and a size.
private struct ChunkForm: Sendable {
  /// The first bytes of the file.
  let mark: [UInt8]
  /// The offset of the first chunk.
  let start: Int
  let headSize: Int
  /// The first bytes of the head of the chunk with the samples.
  let data: [UInt8]
  let alignment: Int
  /// The least size that programs write if they do not know it in advance.
  let unknownSize: Int
  /// Returns the size of a chunk without its head. Returns `nil` if it is unknown.
  let size: @Sendable ([UInt8]) -> Int?

  static let all = [wave, wave64, caf]

  private static let wave = ChunkForm(
    mark: Array("RIFF".utf8), start: 12, headSize: 8, data: Array("data".utf8), alignment: 2, unknownSize: 0x7fff_0000
  ) { Int(littleEndianBytes: $0[4..<8]) }

  /// Sony Wave64. Sizes include the head, which starts with a GUID.
  private static let wave64 = ChunkForm(
    mark: Array("riff".utf8) + [0x2e, 0x91, 0xcf, 0x11], start: 40, headSize: 24,
    data: Array("data".utf8) + [0xf3, 0xac, 0xd3, 0x11], alignment: 8, unknownSize: 1 << 62
  ) { head in
    let size = UInt64(littleEndianBytes: head[16..<24])
    return size < 24 ? nil : Int(exactly: size).map { $0 - 24 }
  }

  /// Core Audio Format. A size of -1 is unknown.
  private static let caf = ChunkForm(
    mark: Array("caff".utf8), start: 8, headSize: 12, data: Array("data".utf8), alignment: 1, unknownSize: 1 << 62
  ) { head in
    let size = Int(bitPattern: UInt(UInt64(bigEndianBytes: head[4..<12])))
    return size < 0 ? nil : size
  }
}
