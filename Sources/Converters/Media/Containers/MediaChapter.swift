internal import CFFmpeg
internal import WorkerKit

/// A named part of a media file. Times are in seconds.
struct MediaChapter {
  var start: Double
  var end: Double
  var tags: MediaTags
}

extension MediaInput {
  private static let mostChapters = 10_000
  /// The maximum time of a chapter, in seconds.
  private static let longest = 1e9

  /// Returns the chapters with their times mapped by `place`, in seconds. Omits chapters for which `place` returns
  /// `nil`.
  func chapters(placed place: (_ start: Double, _ end: Double) -> (Double, Double)?) -> [MediaChapter] {
    chapters.compactMap { chapter in
      guard let (start, end) = place(chapter.start, chapter.end), end > start, end < Self.longest else { return nil }
      return MediaChapter(start: start, end: end, tags: chapter.tags)
    }
  }

  var chapters: [MediaChapter] {
    (0..<min(Self.mostChapters, Int(unsafe context.pointee.nb_chapters))).compactMap { index in
      guard let chapter = unsafe context.pointee.chapters[index] else { return nil }
      let base = unsafe Double(chapter.pointee.time_base.num) / Double(max(1, chapter.pointee.time_base.den))
      return unsafe MediaChapter(
        start: Double(chapter.pointee.start) * base, end: Double(chapter.pointee.end) * base,
        tags: MediaTags(chapter.pointee.metadata))
    }
  }
}

extension MediaOutput {
  /// The maximum time of a chapter, in seconds.
  private static let longest = 1e9

  /// Adds the chapters of an input with their times mapped by `place`, in seconds. Omits chapters for which `place`
  /// returns `nil`.
  func addChapters(of input: MediaInput, _ place: (_ start: Double, _ end: Double) -> (Double, Double)?)
    throws(JobFailure)
  {
    for chapter in input.chapters(placed: place) { try add(chapter) }
  }

  /// FFmpeg's names of containers whose chapters are comments.
  ///
  /// FFmpeg itself writes them only along with other tags, never into FLAC, and rounds seconds up.
  private static let commented: Set = ["ogg", "oga", "opus", "spx", "flac"]
  /// The maximum number of chapters, whose numbers have three digits.
  private static let mostCommented = 1000

  func add(_ chapter: MediaChapter) throws(JobFailure) {
    if Self.commented.contains(muxer) {
      guard commentedChapters < Self.mostCommented else { return }
      let number = String(String(1000 + commentedChapters).dropFirst())
      commentedChapters += 1
      var tags = MediaTags()
      tags.set("CHAPTER\(number)", Self.clock(chapter.start))
      tags.set("CHAPTER\(number)NAME", chapter.tags["title"] ?? "")
      return set(tags)
    }
    guard let made = unsafe av_mallocz(MemoryLayout<AVChapter>.size)?.assumingMemoryBound(to: AVChapter.self) else {
      throw .noMemory()
    }
    unsafe made.pointee.id = Int64(context.pointee.nb_chapters) + 1
    unsafe made.pointee.time_base = AVRational(num: 1, den: 1000)
    unsafe made.pointee.start = Int64((max(0, chapter.start) * 1000).rounded())
    unsafe made.pointee.end = Int64((max(0, chapter.end) * 1000).rounded())
    unsafe chapter.tags.write(to: &made.pointee.metadata)
    var count = Int32(unsafe context.pointee.nb_chapters)
    let code = unsafe withUnsafeMutablePointer(to: &context.pointee.chapters) {
      unsafe av_dynarray_add_nofree($0, &count, made)
    }
    guard code >= 0 else {
      unsafe av_dict_free(&made.pointee.metadata)
      unsafe av_free(made)
      throw .noMemory()
    }
    unsafe context.pointee.nb_chapters = UInt32(count)
  }

  /// Prints seconds as `00:01:02.500`.
  private static func clock(_ seconds: Double) -> String {
    let all = Int((max(0, min(seconds, longest)) * 1000).rounded())
    func digits(_ value: Int, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let parts = [all / 3_600_000, all / 60_000 % 60, all / 1000 % 60].map { digits($0, 2) }
    return "\(parts.joined(separator: ":")).\(digits(all % 1000, 3))"
  }
}
