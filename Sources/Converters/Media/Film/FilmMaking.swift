internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The conversion of a video, or of a part of it, into another container.
struct FilmMaking {
  private let file: JobInput
  private let container: FilmContainer
  private let changes: FilmChanges
  /// The size that is reported for the result until the real one is known, in bytes.
  private let announced: Int64

  /// The maximum time between key frames, in seconds. A player that seeks starts with a key frame.
  private static let fragmentSeconds: Int32 = 2
  /// The maximum size of a source whose result is measured in advance, in bytes. Measuring reads the whole source.
  private static let largestMeasured = 4 << 30

  init(_ file: JobInput, _ container: FilmContainer, _ changes: FilmChanges, announced: Int64) {
    self.announced = announced
    self.file = file
    self.container = container
    self.changes = changes
  }

  /// The numbers of bytes reserved for the index of Matroska: for any video, and for each second of it.
  private static let leastIndex = 1024
  private static let indexRate = 64
  private static let longestIndexed = 86_400.0

  private func open(copies: Bool = true) throws(JobFailure) -> (input: MediaInput, plan: FilmPlan) {
    let input = try MediaInput(file)
    unsafe input.context.pointee.flags |= AVFMT_FLAG_GENPTS
    return (input, try FilmPlan(input, container, changes, copies: copies))
  }

  /// Returns the layout of a copy without writing it. Returns `nil` if something must be encoded, or if the source is
  /// too large. Throws if the streams do not fit into the container.
  func layout() throws(JobFailure) -> SealedLayout? {
    guard file.count <= Self.largestMeasured else { return nil }
    let (input, plan) = try open()
    guard plan.copiesAll else { return nil }
    let door = PatchedMuxerIO()
    let output = try MediaOutput(container.muxer, through: door, telling: nil, isStreamed: false)
    _ = try make(input, plan, output, container.options)
    return door.layout.isUnknown ? nil : door.layout
  }

  /// Returns the size of a copy with this layout, in bytes.
  static func size(of layout: SealedLayout) -> Int64 { layout.size }

  /// Writes the result. Returns a remark.
  ///
  /// - Parameters:
  ///   - layout: the layout of a copy, if it is known.
  ///   - copies: whether streams that the container can store are copied.
  func write(to output: JobOutput, _ layout: SealedLayout?, copies: Bool) throws(JobFailure) -> String {
    let (input, plan) = try open(copies: copies)
    let made: MediaOutput
    var options = container.options
    if let layout {
      let door = PatchedMuxerIO(layout, hasIndexFirst: container.hasIndexFirst, to: output)
      made = try MediaOutput(container.muxer, through: door, telling: output, isStreamed: true)
    } else {
      made = try self.output(to: output, input)
      options.merge(streamed(plan)) { _, new in new }
      if container.reservesIndex {
        let seconds = min(Self.longestIndexed, FilmWindow(changes, of: input).length(of: input.duration ?? 0))
        options["reserve_index_space"] = "\(Self.leastIndex + Int(seconds) * Self.indexRate)"
        // Applies until the actual length is known.
        unsafe made.context.pointee.duration = Int64(seconds * Double(AV_TIME_BASE))
      }
    }
    do throws(JobFailure) { return try make(input, plan, made, options) } catch {
      // Some incompatible streams are detected only when the header is written.
      guard copies, !made.isStarted, plan.tracks.contains(where: { $0.way == .copied }) else { throw error }
      try output.restart()
      return try write(to: output, nil, copies: false)
    }
  }

  /// Returns the output of a conversion without a known layout.
  private func output(to output: JobOutput, _ input: MediaInput) throws(JobFailure) -> MediaOutput {
    guard container.isFragmented, let length = input.duration else {
      return try MediaOutput(
        container.muxer, to: output, isStreamed: container.streamedOptions != nil,
        isSeekable: container.reservesIndex ? true : nil)
    }
    let seconds = FilmWindow(changes, of: input).length(of: length)
    let door = FragmentedMuxerIO(output, announced: announced, seconds: seconds)
    return try MediaOutput(container.muxer, through: door, telling: output, isStreamed: true, isSeekable: false)
  }

  private func streamed(_ plan: FilmPlan) -> [String: String] {
    let options = container.streamedOptions ?? [:]
    // All audio packets can be decoded independently.
    let hasPictures = plan.tracks.contains { $0.stream.kind == .film }
    return container.isFragmented && !hasPictures ? options.merging(["frag_duration": "1000000"]) { $1 } : options
  }

  private func make(
    _ input: MediaInput, _ plan: FilmPlan, _ output: MediaOutput, _ options: [String: String]
  ) throws(JobFailure) -> String {
    let window = FilmWindow(changes, of: input)
    var notes: [String] = []
    var tracks: [any MadeTrack] = []
    var rate: AVRational?
    var coding = plan.coding
    if container.isFragmented { coding.groupSeconds = Self.fragmentSeconds }
    for (stream, way) in plan.tracks {
      switch (way, stream.kind) {
      case (.attached, _): tracks.append(AttachedPicture(stream, of: input))
      case (.copied, _): tracks.append(try CopiedTrack(stream, of: input, container))
      case (.coded, .film):
        let pictures = try CodedPictures(
          stream, of: input, coding, changes, window, hasGlobalHeader: output.wantsGlobalHeaders)
        notes += pictures.remarks
        rate = pictures.rate
        tracks.append(pictures)
      case (.coded, .sound):
        let coding = container.soundCoding.blocked(by: rate)
        let sound = try CodedSoundTrack(
          stream, of: input, coding, window, hasGlobalHeader: output.wantsGlobalHeaders, isCounted: input.isOneSound)
        notes += sound.remarks
        tracks.append(sound)
      case (.coded, _): tracks.append(try CodedText(stream, of: input, container.textEncoder ?? "", window))
      }
    }
    for track in tracks { try track.declare(in: output) }
    // Permits FLAC in MP4, which browsers play.
    unsafe output.context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
    output.set(input.filmTags)
    try output.addChapters(of: input) { window.place($0, $1) }
    try output.start(options)
    try Self.run(tracks, input, output, window)
    guard output.hasPackets else { throw JobFailure(.damaged, "has nothing in it that can be played") }
    try output.finish()
    return [plan.remark(notes), input.shortfall].filter { !$0.isEmpty }.joined(separator: "; ")
  }

  /// Passes all packets to their tracks.
  private static func run(
    _ tracks: [any MadeTrack], _ input: MediaInput, _ output: MediaOutput, _ window: FilmWindow
  ) throws(JobFailure) {
    input.use(only: Set(tracks.map(\.source)))
    // The samples of a single audio stream are counted from the first.
    if window.start > 0, !input.isOneSound { input.enter(at: window.start) }
    let bySource = Dictionary(tracks.map { ($0.source, $0) }) { first, _ in first }
    let packet = try MediaPacket()
    let length = input.duration.map { max(0.001, min(window.end ?? $0, $0) - window.start) }
    while try input.read(into: packet) {
      guard let track = bySource[packet.stream] else { continue }
      let time = unsafe packet.pointer.pointee.pts
      let base = input.streams[packet.stream].timeBase
      if let length, time != ffmedia_no_time {
        let seconds =
          Double(time) * Double(base.num) / Double(max(1, base.den)) - Double(window.origin) / Double(AV_TIME_BASE)
        output.tell((seconds - window.start) / length)
      }
      try track.take(packet, output)
      if track.isDone, tracks.allSatisfy({ $0.isDone || !$0.canBeDone }) { break }
    }
    for track in tracks { try track.take(nil, output) }
  }
}

extension MadeTrack {
  /// Whether the track can determine that its part of the video is complete.
  fileprivate var canBeDone: Bool { self is CodedTrack }
}

extension SoundCoding {
  /// Returns a coding with one block of audio for each picture, as AMV requires.
  fileprivate func blocked(by rate: AVRational?) -> SoundCoding {
    guard encoder == "adpcm_ima_amv", let rate, rate.num > 0 else { return self }
    var coding = self
    coding.options["block_size"] = "\(22_050 * Int(rate.den) / Int(rate.num))"
    return coding
  }
}

extension MediaInput {
  /// The tags of the whole file. Ogg stores them with each stream.
  fileprivate var filmTags: MediaTags {
    guard formatName == "ogg" else { return tags }
    var all = streams.reduce(tags) { $0.completed(by: $1.tags) }
    all.entries.removeAll { $0.name.lowercased() == "language" }
    return all
  }

  /// Seeks to a position from which everything after `seconds` can be decoded. Seeks to the beginning if that is
  /// unknown.
  func enter(at seconds: Double) {
    // Audio is decoded slightly ahead.
    let time = origin + Int64(max(0, seconds - 0.5) * Double(AV_TIME_BASE))
    guard (try? restart()) != nil else { return }
    if seek(atOrBefore: time) < 0 { _ = seek(-1, to: origin) }
  }
}
