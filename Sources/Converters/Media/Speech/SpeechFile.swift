internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The conversion into an audio file with a speech codec of mobile phones.
struct SpeechFile {
  private let coding: SpeechCoding
  private let mode: Int
  private let feed: SoundFeed
  private let remark: String

  init(_ coding: SpeechCoding, of sound: OpenSound, _ changes: SoundChanges) throws(JobFailure) {
    self.coding = coding
    mode = coding.mode(kilobits: changes.bitRate)
    let shape = SoundShape(rate: coding.rate, channels: 1, format: AV_SAMPLE_FMT_S16)
    feed = try SoundFeed(sound, as: shape, changes)
    remark = SoundSettings.remark(sound.facts.shape(changes), shape)
  }

  /// The size in bytes. `nil` if it is known only after the conversion.
  var size: Int64? {
    feed.count.map { count in
      let frames = (count + Int64(coding.delay + coding.step - 1)) / Int64(coding.step)
      return Int64(coding.head.count) + frames * Int64(coding.frameSize(mode: mode))
    }
  }

  /// Writes the file. Returns the job's remark.
  func write(to output: JobOutput) throws(JobFailure) -> String {
    let encoder = try SpeechEncoder(coding, mode: mode)
    let progress = ProgressReport(output)
    var written = Int64(coding.head.count)
    try unsafe output.write(coding.head.span.bytes)
    var waiting: [Int16] = []
    func code() throws(JobFailure) {
      var place = 0
      var bytes: [UInt8] = []
      while waiting.count - place >= coding.step {
        bytes += try encoder.frame(of: Array(waiting[place..<place + coding.step]))
        place += coding.step
      }
      waiting.removeFirst(place)
      try unsafe output.write(bytes.span.bytes)
      written += Int64(bytes.count)
    }
    try feed.forEachFrame { (frame, share) throws(JobFailure) in
      waiting += frame.words
      try code()
      progress.tell(share) { written }
    }
    let rest = waiting.count + coding.delay
    let frames = (rest + coding.step - 1) / coding.step
    waiting += [Int16](repeating: 0, count: frames * coding.step - waiting.count)
    try code()
    return [remark, feed.remark].filter { !$0.isEmpty }.joined(separator: "; ")
  }
}

extension MediaFrame {
  /// The 16-bit samples of one channel.
  fileprivate var words: [Int16] {
    guard let plane = unsafe pointer.pointee.extended_data?.pointee else { return [] }
    return unsafe plane.withMemoryRebound(to: Int16.self, capacity: sampleCount) {
      unsafe Array(UnsafeBufferPointer(start: $0, count: sampleCount))
    }
  }
}
