internal import Bytes
internal import WorkerKit

extension JobInput {
  /// The share of a WAV file's samples that is there, if its header records more. 1 for other files, and if the length
  /// was not known when the header was written.
  var cutOfSamples: Double {
    guard read(12, at: 0).starts(with: Array("RIFF".utf8)) else { return 1 }
    var place = 12
    for _ in 0..<Self.mostChunks {
      let head = read(8, at: place)
      guard head.count == 8 else { return 1 }
      let size = Int(littleEndianBytes: head.suffix(4))
      place += 8
      if head.starts(with: Array("data".utf8)) {
        guard size > count - place, place < count, size < Self.unknownSize else { return 1 }
        return Double(count - place) / Double(size)
      }
      place += size + size % 2
    }
    return 1
  }

  private static let mostChunks = 1000
  /// The least size that programs write if they do not know it in advance.
  private static let unknownSize = 0x7fff_0000
}
