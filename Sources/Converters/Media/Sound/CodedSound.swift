internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The conversion into an audio file in one of FFmpeg's containers. Packets are copied if only the container changes.
struct CodedSound {
  private let sound: OpenSound
  private let target: SoundTarget
  private let changes: SoundChanges
  private let tags: MediaTags?
  /// Whether packets are copied.
  private(set) var isCopy = false

  /// Prepares the conversion. `tags` replaces the source's own tags and omits its chapters.
  init(_ sound: OpenSound, as target: SoundTarget, _ changes: SoundChanges, tags: MediaTags? = nil) throws(JobFailure) {
    self.sound = sound
    self.target = target
    self.changes = changes
    self.tags = tags
    guard changes.keepsSound, target.copies.contains(sound.stream.codec.rawValue) else { return }
    // The packets of each of several files in a row need its own header.
    guard sound.input.links.count == 1, try fits() else { return }
    isCopy = target.isLossless ? try lostPackets() == 0 : true
  }

  /// Returns the number of packets of a lossless stream that cannot be decoded, or whose checksums are wrong. At least 1
  /// if samples are missing.
  private func lostPackets() throws(JobFailure) -> Int {
    guard ["flac", "wavpack", "alac"].contains(sound.stream.codecName) else { return 0 }
    let decoder = try MediaDecoder(sound.stream, of: sound.input, keepsPadding: true)
    let packet = try MediaPacket()
    var lost = 0
    // A container can leave out packets with wrong checksums of its own.
    var came: Int64 = 0
    func take(_ frame: MediaFrame, _ shape: SoundShape) { came += Int64(frame.sampleCount) }
    sound.input.use(only: [sound.stream.index])
    try sound.input.rewind(sound.stream)
    while try sound.input.read(into: packet) {
      guard packet.stream == sound.stream.index else { continue }
      if try !decoder.decodeSound(packet, take) { lost += 1 }
    }
    try decoder.decodeSound(nil, take)
    return max(lost, sound.count.map { came < $0 } == true ? 1 : 0)
  }

  /// Returns whether the container accepts the source's packets. Some sources lack the header before the packets. Some
  /// muxers require it only at the first packet.
  private func fits() throws(JobFailure) -> Bool {
    let file = try MediaOutput(target.muxer, to: nil, isStreamed: target.isStreamed)
    var copy = PacketCopy(from: sound.input, to: file)
    try copy.add(sound.stream)
    try sound.input.rewind(sound.stream)
    do throws(JobFailure) {
      try start(file)
      try copy.run(atMost: 1)
    } catch {
      guard error.concernsInput, error.failure != .limit else { throw error }
      return false
    }
    return true
  }

  /// Writes the file. Returns the job's remark.
  func write(to output: JobOutput) throws(JobFailure) -> String {
    if isCopy {
      _ = try copy(to: output)
      try sound.input.checkHalf()
      let ending = sound.input.shortfall
      let lost = try target.isLossless ? 0 : lostPackets()
      let isLost = lost == 0 ? "" : "has damaged sound (\(lost) \(lost == 1 ? "packet" : "packets"))"
      return [ending, JobAnswer.loss(isLost), try paddingRemark()].filter { !$0.isEmpty }.joined(separator: "; ")
    }
    let coding = try Coding(sound, target, changes)
    let file = try self.file(to: output, coding)
    let place = try begin(file, coding)
    try coding.feed.forEachFrame { (frame, share) throws(JobFailure) in
      if let gain = coding.settings.gain { try frame.amplify(by: gain, coding.settings.shape) }
      try coding.encoder.encode(frame) { (packet) throws(JobFailure) in
        try file.write(packet, to: place, timeBase: coding.encoder.timeBase)
      }
      file.tell(share)
    }
    try coding.encoder.finish { (packet) throws(JobFailure) in
      try file.write(packet, to: place, timeBase: coding.encoder.timeBase)
    }
    try file.finish()
    return [coding.settings.remark, linkRemark, coding.feed.remark, paddingRemark(of: coding.encoder)]
      .filter { !$0.isEmpty }.joined(separator: "; ")
  }

  /// Returns the size of the file, in bytes. Returns `nil` if it is known only after the conversion.
  func size() throws(JobFailure) -> Int64? {
    if isCopy { return target.isStreamed || target.muxer == "mp3" ? try copy(to: nil) : nil }
    guard target.isConstant, changes.quality == nil else { return nil }
    let coding = try Coding(sound, target, changes)
    guard let constant = coding.constant else { return nil }
    let file = try self.file(to: nil, coding)
    let place = try begin(file, coding)
    let packet = try MediaPacket()
    var time = -Int64(unsafe coding.encoder.context.pointee.initial_padding)
    try constant.forEachSize { (size) throws(JobFailure) in
      try packet.fill(withZeros: size)
      unsafe packet.pointer.pointee.pts = time
      unsafe packet.pointer.pointee.dts = time
      unsafe packet.pointer.pointee.duration = Int64(constant.step)
      time += Int64(constant.step)
      try file.write(packet, to: place, timeBase: coding.encoder.timeBase)
    }
    try file.finish()
    return file.size
  }

  /// Opens the output. MP3 with known frames is streamed, too, since only its tags are filled in.
  private func file(to output: JobOutput?, _ coding: Coding) throws(JobFailure) -> MediaOutput {
    try MediaOutput(
      target.muxer, to: output, isStreamed: target.isStreamed || coding.constant != nil, isSeekable: !target.isStreamed)
  }

  /// Copies the packets. Returns the size in bytes. If `output` is `nil`, a streamed file is only measured.
  private func copy(to output: JobOutput?) throws(JobFailure) -> Int64 {
    let file = try MediaOutput(target.muxer, to: output, isStreamed: target.isStreamed)
    var copy = PacketCopy(from: sound.input, to: file)
    try copy.add(sound, marksPadding: isMovedIntoMatroska)
    if target.muxer == "mp3" {
      // Without padding, the source has no frame that records any.
      let information = sound.map?.hasLead == false ? nil : try sound.mp3Information()
      try sound.input.rewind(sound.stream)
      try start(file, ["write_xing": "0"])
      if let information { try file.write(first: information.frame, to: 0, timeBase: sound.stream.timeBase) }
    } else {
      try sound.input.rewind(sound.stream)
      try start(file)
    }
    try copy.run()
    guard file.hasPackets else { throw JobFailure(.damaged, "has no sound in it") }
    try file.finish()
    return file.size
  }

  /// The muxers of formats that do not record padding.
  private static let withoutPadding: Set = ["mp3", "adts", "ac3", "dts", "mp2", "gsm", "amr"]

  private var isMovedIntoMatroska: Bool {
    target.muxer == "matroska" && (sound.input.formatName.hasPrefix("mov") || sound.input.formatName == "mp3")
  }

  /// A remark on several files in a row whose packets would be copied if there were only one. Empty for others.
  private var linkRemark: String {
    guard sound.input.links.count > 1, changes.keepsSound, !target.isLossless,
      target.copies.contains(sound.stream.codec.rawValue)
    else { return "" }
    return "is coded again, since it is \(sound.input.links.count) recordings in a row"
  }

  /// Returns a remark on samples that a copy contains but its source omits. Empty if there are none.
  private func paddingRemark() throws(JobFailure) -> String {
    let isCut = target.muxer == "mp3" && sound.map != nil
    guard !isCut, isMovedIntoMatroska || Self.withoutPadding.contains(target.muxer) else { return "" }
    let padding = try sound.frames().padding
    // Opus itself records the samples before its first.
    let isTold = sound.stream.codec == AV_CODEC_ID_OPUS
    let sum = (isTold ? 0 : padding.first) + (isMovedIntoMatroska ? 0 : padding.last)
    if target.muxer == "mp3" && padding.first >= MP3Frames.decoderDelay { return "" }
    return Self.paddingRemark(sum, sound.stream.rate)
  }

  /// Returns a remark on samples that an encoder added before and after the others. Empty if there are none.
  private func paddingRemark(of encoder: SoundEncoder) -> String {
    guard target.muxer != "mp3", Self.withoutPadding.contains(target.muxer) else { return "" }
    return Self.paddingRemark(encoder.padding, encoder.shape.rate)
  }

  private static func paddingRemark(_ count: Int64, _ rate: Int) -> String {
    count <= 0 ? "" : "is \(SoundLoss.seconds(count, rate)) s longer, because the format does not mark padding"
  }

  /// Writes everything before the first audio packet. Returns the index of its stream.
  private func begin(_ file: MediaOutput, _ coding: Coding) throws(JobFailure) -> Int {
    let place = Int(unsafe try file.addStream(from: coding.encoder.context).pointee.index)
    guard case .mp3(let frames) = coding.constant else {
      try start(file)
      return place
    }
    // FFmpeg's information frame would be filled in at the end.
    try start(file, ["write_xing": "0"])
    let packet = try MediaPacket()
    try packet.fill(with: frames.information)
    let time = -Int64(unsafe coding.encoder.context.pointee.initial_padding) - Int64(frames.step)
    unsafe packet.pointer.pointee.pts = time
    unsafe packet.pointer.pointee.dts = time
    try file.write(packet, to: place, timeBase: coding.encoder.timeBase)
    return place
  }

  /// Writes the header with tags, chapters and the cover.
  private func start(_ file: MediaOutput, _ options: [String: String] = [:]) throws(JobFailure) {
    let input = sound.input
    var tags = self.tags ?? sound.tags
    let cover = target.cover == .nowhere ? nil : input.cover
    if target.cover == .comment, let cover {
      let text = PictureComment.text(
        try input.coverBytes(cover), mimeType: cover.codecName == "png" ? "image/png" : "image/jpeg",
        width: cover.width, height: cover.height)
      tags.set(PictureComment.name, text)
    }
    file.set(tags)
    if self.tags == nil { try file.addChapters(of: input) { start, end in changes.place(start, end) } }
    let place: Int? = if target.cover == .stream, let cover { try file.addCover(cover, of: input) } else { nil }
    try file.start(options)
    if let place, let cover { try file.writeCover(cover, of: input, to: place) }
  }
}

extension CodedSound {
  /// An encoder and its input.
  private struct Coding {
    let settings: SoundSettings
    let encoder: SoundEncoder
    let feed: SoundFeed
    /// The sizes of the packets. `nil` if they are known only after encoding.
    let constant: ConstantRate?

    init(_ sound: OpenSound, _ target: SoundTarget, _ changes: SoundChanges) throws(JobFailure) {
      var settings = try SoundSettings(target, for: sound.facts, changes)
      let isGlobal = target.wantsGlobalHeaders
      do throws(JobFailure) { encoder = try SoundEncoder(settings, wantsGlobalHeaders: isGlobal) } catch {
        guard settings.shape.channels > 2 else { throw error }
        settings = settings.inStereo
        encoder = try SoundEncoder(settings, wantsGlobalHeaders: isGlobal)
      }
      self.settings = settings
      feed = try SoundFeed(sound, as: settings.shape, changes)
      constant = feed.count.flatMap { [encoder] in target.constant(settings, encoder, samples: $0) }
    }
  }
}

extension SoundTarget {
  /// Returns the sizes of the packets if they are known in advance.
  fileprivate func constant(_ settings: SoundSettings, _ encoder: SoundEncoder, samples: Int64) -> ConstantRate? {
    guard isConstant, settings.quality == nil, let rate = settings.bitRate, settings.shape.channels <= 2 else {
      return nil
    }
    if muxer == "mp3" {
      return MP3Frames(
        rate: settings.shape.rate, channels: settings.shape.channels, samples: samples, kilobits: rate / 1000
      ).map { .mp3($0) }
    }
    guard settings.shape.rate == 48000, unsafe encoder.context.pointee.frame_size == 960 else { return nil }
    let all = samples + Int64(unsafe encoder.context.pointee.initial_padding)
    return .opus(size: rate / 50 / 8, packets: (all + 959) / 960)
  }

  /// Whether encoders have to keep their headers out of the packets.
  fileprivate var wantsGlobalHeaders: Bool {
    guard let format = unsafe av_guess_format(muxer, nil, nil) else { return false }
    return unsafe format.pointee.flags & AVFMT_GLOBALHEADER != 0
  }
}

extension SoundChanges {
  /// Returns the times of a chapter in the result, in seconds. Returns `nil` if it is cut off entirely.
  func place(_ start: Double, _ end: Double) -> (Double, Double)? {
    let from = span?.start.seconds ?? 0
    let to = span?.end?.seconds ?? .infinity
    let speed = Double(speed?.hundredths ?? 100) / 100
    let (first, last) = (max(start, from), min(end, to))
    return last > first ? ((first - from) / speed, (last - from) / speed) : nil
  }
}

extension MediaPacket {
  func fill(withZeros count: Int) throws(JobFailure) { try fill(with: [UInt8](repeating: 0, count: count)) }

  func fill(with bytes: [UInt8]) throws(JobFailure) {
    clear()
    try unsafe checked(av_new_packet(pointer, Int32(bytes.count)), "is too large")
    unsafe pointer.pointee.data.update(from: bytes, count: bytes.count)
  }
}
