internal import Bytes

/// Tags, chapters and a cover in ID3v2.4, for files of samples whose own chunks cannot store them.
enum ID3Tag {
  private static let texts = [
    ("TIT2", "title"), ("TPE1", "artist"), ("TPE2", "album_artist"), ("TALB", "album"), ("TRCK", "track"),
    ("TPOS", "disc"), ("TDRC", "date"), ("TCON", "genre"), ("TCOM", "composer"), ("TCOP", "copyright"),
  ]
  private static let utf8: UInt8 = 3
  /// The picture type of a front cover.
  private static let front: UInt8 = 3

  /// Returns the tag. Empty if there is nothing to store.
  static func bytes(_ tags: MediaTags, _ cover: SoundCover?, _ chapters: [MediaChapter]) -> [UInt8] {
    var frames: [UInt8] = texts.flatMap { name, tag in
      tags[tag].map { frame(name, [utf8] + Array($0.utf8)) } ?? []
    }
    if let comment = tags["comment"] { frames += frame("COMM", [utf8] + Array("und".utf8) + [0] + Array(comment.utf8)) }
    if let cover {
      frames += frame("APIC", [utf8] + Array(cover.mimeType.utf8) + [0, front, 0] + cover.bytes)
    }
    if !chapters.isEmpty { frames += Self.frames(of: Array(chapters.prefix(mostChapters))) }
    return frames.isEmpty ? [] : Array("ID3".utf8) + [4, 0, 0] + size(frames.count) + frames
  }

  /// The maximum number of chapters, whose count is a byte.
  private static let mostChapters = 255

  /// Returns a table of chapters, and a frame for each of them (ID3v2 Chapter Frame Addendum).
  private static func frames(of chapters: [MediaChapter]) -> [UInt8] {
    func word(_ value: Double) -> [UInt8] {
      let number = UInt32(max(0, min(4e9, (value * 1000).rounded())))
      return (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * $0)) }
    }
    func name(_ index: Int) -> [UInt8] { Array("chp\(index)".utf8) + [0] }
    let isTopAndOrdered: UInt8 = 3
    let table = Array("toc".utf8) + [0, isTopAndOrdered, UInt8(chapters.count)] + chapters.indices.flatMap(name)
    // Offsets in bytes are omitted.
    let noOffsets = [UInt8](repeating: 0xff, count: 8)
    return frame("CTOC", table)
      + chapters.enumerated().flatMap { index, chapter -> [UInt8] in
        let title = chapter.tags["title"].map { frame("TIT2", [utf8] + Array($0.utf8)) } ?? []
        return frame("CHAP", name(index) + word(chapter.start) + word(chapter.end) + noOffsets + title)
      }
  }

  private static func frame(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Array(name.utf8) + size(content.count) + [0, 0] + content
  }

  /// Returns a size with seven bits a byte.
  private static func size(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(count >> (21 - 7 * $0) & 127) } }
}

/// The cover of an album.
struct SoundCover {
  let bytes: [UInt8]
  let mimeType: String
}
