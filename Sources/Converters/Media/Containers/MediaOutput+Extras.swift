internal import CFFmpeg
internal import WorkerKit

/// What goes along with the streams: the cover and the chapters.
extension MediaOutput {
  /// A stream for a picture that belongs to the whole; gives its number.
  func addCover(_ cover: MediaStream, of input: MediaInput) throws(JobFailure) -> Int {
    let original = try unsafe input.stream(cover.index)
    let stream = try unsafe addStream(original.pointee.codecpar, timeBase: cover.timeBase, tags: cover.tags)
    unsafe stream.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
    return Int(unsafe stream.pointee.index)
  }

  /// Writes the cover's picture; before all other packets.
  func writeCover(_ cover: MediaStream, of input: MediaInput, to place: Int) throws(JobFailure) {
    let original = try unsafe input.stream(cover.index)
    let packet = try MediaPacket()
    try unsafe checked(av_packet_ref(packet.pointer, &original.pointee.attached_pic), "has a cover that is damaged")
    unsafe packet.pointer.pointee.pts = 0
    unsafe packet.pointer.pointee.dts = 0
    try write(packet, to: place, timeBase: cover.timeBase)
  }

  /// The chapters of an input, each moved by `place`, which gives nil for one that is left out; in seconds.
  func addChapters(of input: MediaInput, _ place: (_ start: Double, _ end: Double) -> (Double, Double)?)
    throws(JobFailure)
  {
    for chapter in input.chapters {
      guard let (start, end) = place(chapter.start, chapter.end), end > start else { continue }
      try add(MediaChapter(start: start, end: end, tags: chapter.tags))
    }
  }

  func add(_ chapter: MediaChapter) throws(JobFailure) {
    guard let made = unsafe av_mallocz(MemoryLayout<AVChapter>.size)?.assumingMemoryBound(to: AVChapter.self) else {
      throw .noMemory()
    }
    unsafe made.pointee.id = Int64(context.pointee.nb_chapters) + 1
    unsafe made.pointee.time_base = AVRational(num: 1, den: 1000)
    unsafe made.pointee.start = Int64(max(0, chapter.start) * 1000)
    unsafe made.pointee.end = Int64(max(0, chapter.end) * 1000)
    unsafe chapter.tags.write(to: &made.pointee.metadata)
    var count = Int32(unsafe context.pointee.nb_chapters)
    let code = unsafe withUnsafeMutablePointer(to: &context.pointee.chapters) {
      unsafe av_dynarray_add_nofree($0, &count, made)
    }
    guard code >= 0 else {
      unsafe av_free(made)
      throw .noMemory()
    }
    unsafe context.pointee.nb_chapters = UInt32(count)
  }
}

/// A part of what plays that has a name; in seconds.
struct MediaChapter {
  var start: Double
  var end: Double
  var tags: MediaTags
}

extension MediaInput {
  private static let mostChapters = 1000

  var chapters: [MediaChapter] {
    (0..<min(Self.mostChapters, Int(unsafe context.pointee.nb_chapters))).compactMap { index in
      guard let chapter = unsafe context.pointee.chapters[index] else { return nil }
      let base = unsafe Double(chapter.pointee.time_base.num) / Double(max(1, chapter.pointee.time_base.den))
      return unsafe MediaChapter(
        start: Double(chapter.pointee.start) * base, end: Double(chapter.pointee.end) * base,
        tags: MediaTags(chapter.pointee.metadata))
    }
  }

  /// The first picture that belongs to the whole, of a kind that all programs show.
  var cover: MediaStream? {
    streams.first { stream in
      stream.kind == .cover && ["mjpeg", "png"].contains(stream.codecName) && coverSize(stream) <= Self.largestCover
    }
  }

  private static let largestCover = 16 << 20

  private func coverSize(_ stream: MediaStream) -> Int {
    guard let stream = unsafe try? self.stream(stream.index) else { return 0 }
    return Int(unsafe stream.pointee.attached_pic.size)
  }

  /// A cover's bytes, as they stand in the file.
  func coverBytes(_ cover: MediaStream) throws(JobFailure) -> [UInt8] {
    let picture = try unsafe stream(cover.index).pointee.attached_pic
    return unsafe Array(UnsafeBufferPointer(start: picture.data, count: max(0, Int(picture.size))))
  }
}
