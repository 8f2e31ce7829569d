internal import Bytes

/// Tags and a cover as ID3v2.4 has them, for files of samples whose own chunks have no place for that.
enum ID3Tag {
  private static let texts = [
    ("TIT2", "title"), ("TPE1", "artist"), ("TPE2", "album_artist"), ("TALB", "album"), ("TRCK", "track"),
    ("TPOS", "disc"), ("TDRC", "date"), ("TCON", "genre"), ("TCOM", "composer"), ("TCOP", "copyright"),
  ]
  private static let utf8: UInt8 = 3
  /// Of a picture: the front of the cover.
  private static let front: UInt8 = 3

  /// Empty if there is nothing to be said.
  static func bytes(_ tags: MediaTags, _ cover: SoundCover?) -> [UInt8] {
    var frames: [UInt8] = texts.flatMap { name, tag in
      tags[tag].map { frame(name, [utf8] + Array($0.utf8)) } ?? []
    }
    if let comment = tags["comment"] { frames += frame("COMM", [utf8] + Array("und".utf8) + [0] + Array(comment.utf8)) }
    if let cover {
      frames += frame("APIC", [utf8] + Array(cover.mimeType.utf8) + [0, front, 0] + cover.bytes)
    }
    return frames.isEmpty ? [] : Array("ID3".utf8) + [4, 0, 0] + size(frames.count) + frames
  }

  private static func frame(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Array(name.utf8) + size(content.count) + [0, 0] + content
  }

  /// Seven bits a byte.
  private static func size(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(count >> (21 - 7 * $0) & 127) } }
}

/// The picture of a record.
struct SoundCover {
  let bytes: [UInt8]
  let mimeType: String
}
