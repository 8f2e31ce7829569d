internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A sound file in a container of FFmpeg's: copied where only the container changes, coded otherwise.
struct CodedSound {
  private let input: MediaInput
  private let stream: MediaStream
  private let target: SoundTarget
  private let changes: SoundChanges

  init(_ input: MediaInput, _ stream: MediaStream, as target: SoundTarget, _ changes: SoundChanges) {
    self.input = input
    self.stream = stream
    self.target = target
    self.changes = changes
  }

  /// Whether nothing has to be coded again.
  var isCopy: Bool { changes.keepsSound && target.copies.contains(stream.codec.rawValue) }

  /// Returns the job's remark.
  func write(to output: JobOutput) throws(JobFailure) -> String {
    if isCopy {
      try copy(to: output)
      return ""
    }
    var settings = try SoundSettings(target, for: SoundFacts(stream, of: input), changes)
    let file = try MediaOutput(target.muxer, to: output, isStreamed: target.isStreamed)
    var encoder: SoundEncoder
    do throws(JobFailure) {
      encoder = try SoundEncoder(settings, wantsGlobalHeaders: file.wantsGlobalHeaders)
    } catch {
      guard settings.shape.channels > 2 else { throw error }
      settings = settings.inStereo
      encoder = try SoundEncoder(settings, wantsGlobalHeaders: file.wantsGlobalHeaders)
    }
    let place = Int(unsafe try file.addStream(encoder).pointee.index)
    try start(file)
    let reader = try SoundReader(stream, of: input, as: settings.shape, changes)
    let timeBase = encoder.timeBase
    let write = { (packet: MediaPacket) throws(JobFailure) in try file.write(packet, to: place, timeBase: timeBase) }
    try reader.forEachFrame { (frame, share) throws(JobFailure) in
      try encoder.encode(frame, write)
      file.tell(share)
    }
    try encoder.finish(write)
    try file.finish()
    return settings.remark
  }

  private func copy(to output: JobOutput) throws(JobFailure) {
    let file = try MediaOutput(target.muxer, to: output, isStreamed: target.isStreamed)
    var copy = PacketCopy(from: input, to: file)
    try copy.add(stream)
    try start(file)
    try copy.run()
    try file.finish()
  }

  private func start(_ file: MediaOutput) throws(JobFailure) {
    file.set(stream.tags.withoutLanguage.completed(by: input.tags))
    try file.start()
  }
}

extension MediaOutput {
  /// A stream for an encoder's packets.
  func addStream(_ encoder: SoundEncoder) throws(JobFailure) -> UnsafeMutablePointer<AVStream> {
    guard let parameters = unsafe avcodec_parameters_alloc() else { throw .noMemory() }
    defer {
      var last: UnsafeMutablePointer<AVCodecParameters>? = unsafe parameters
      unsafe avcodec_parameters_free(&last)
    }
    try unsafe checked(avcodec_parameters_from_context(parameters, encoder.context), "cannot be written")
    return try unsafe addStream(parameters, timeBase: encoder.timeBase)
  }
}

extension MediaTags {
  /// A stream's language is of no interest where there is one stream.
  fileprivate var withoutLanguage: MediaTags {
    var tags = self
    tags.entries.removeAll { $0.name == "language" }
    return tags
  }
}
