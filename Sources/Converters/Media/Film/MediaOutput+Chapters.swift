internal import CFFmpeg
internal import WorkerKit

extension MediaOutput {
  private static let mostChapters = 10_000

  /// Adds those of a film's chapters that are in a part of it.
  func setChapters(of input: MediaInput, _ window: FilmWindow) {
    let base = AVRational(num: 1, den: 1_000_000)
    for index in 0..<min(Self.mostChapters, Int(unsafe input.context.pointee.nb_chapters)) {
      guard let chapter = unsafe input.context.pointee.chapters[index] else { continue }
      let times = [unsafe chapter.pointee.start, unsafe chapter.pointee.end].map { time in
        let seconds = Double(av_rescale_q(time, unsafe chapter.pointee.time_base, base) - window.origin) / 1e6
        return (min(max(seconds, window.start), window.end ?? .infinity) - window.start) / window.speed
      }
      guard times[0].isFinite, times[1].isFinite, times[0] >= 0, times[1] > times[0], times[1] < 1e9 else { continue }
      addChapter(from: times[0], to: times[1], unsafe MediaTags(chapter.pointee.metadata))
    }
  }

  /// In seconds.
  func addChapter(from start: Double, to end: Double, _ tags: MediaTags) {
    let count = Int(unsafe context.pointee.nb_chapters)
    let size = unsafe MemoryLayout<UnsafeMutablePointer<AVChapter>?>.stride
    guard let chapter = unsafe av_mallocz(MemoryLayout<AVChapter>.size)?.assumingMemoryBound(to: AVChapter.self) else {
      return
    }
    guard let list = unsafe av_realloc_array(context.pointee.chapters, count + 1, size) else {
      unsafe av_free(chapter)
      return
    }
    unsafe context.pointee.chapters = list.assumingMemoryBound(to: UnsafeMutablePointer<AVChapter>?.self)
    unsafe chapter.pointee.id = Int64(count)
    unsafe chapter.pointee.time_base = AVRational(num: 1, den: 1000)
    unsafe chapter.pointee.start = Int64((start * 1000).rounded())
    unsafe chapter.pointee.end = Int64((end * 1000).rounded())
    unsafe tags.write(to: &chapter.pointee.metadata)
    unsafe context.pointee.chapters[count] = chapter
    unsafe context.pointee.nb_chapters = UInt32(count + 1)
  }
}
