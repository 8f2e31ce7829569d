internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The audio files of a directory, joined into one. Packets are copied if all files are alike. Otherwise they are
/// encoded again, without a gap between one file's last sample and the next one's first.
struct SoundJoin {
  private struct Part {
    let member: JoinedMember
    let kind: Kind
    let facts: SoundFacts
    /// The length in seconds.
    let length: Double
    let tags: MediaTags
    /// Whether the file is several in a row, each with its own header.
    let isLinked: Bool
  }

  /// The properties that must be equal for packets to follow one another.
  private struct Kind: Equatable {
    let codec: UInt32
    let rate: Int
    let channels: Int
    /// The header before all packets.
    let head: [UInt8]
  }

  /// The maximum length of a part, in seconds, whatever the file claims.
  private static let longest = 1e9
  private let parts: JoinedParts<Part>
  private let target: SoundTarget
  private let changes: SoundJoinChanges

  init(_ members: [JoinedMember], as target: SoundTarget, _ changes: SoundJoinChanges) throws(JobFailure) {
    self.target = target
    self.changes = changes
    parts = try JoinedParts(members) { (member) throws(JobFailure) in
      let sound = try OpenSound(member.open(), track: nil)
      let parameters = try unsafe sound.input.stream(sound.stream.index).pointee.codecpar.pointee
      let head = unsafe Array(
        UnsafeBufferPointer(start: parameters.extradata, count: Int(max(0, parameters.extradata_size))))
      let kind = Kind(
        codec: sound.stream.codec.rawValue, rate: sound.stream.rate, channels: sound.stream.channels, head: head)
      let counted = sound.count.map { Double($0) / Double(max(1, sound.facts.shape.rate)) }
      let length = min(Self.longest, counted ?? sound.input.duration ?? 0)
      return Part(
        member: member, kind: kind, facts: sound.facts, length: length, tags: sound.tags,
        isLinked: sound.input.links.count > 1)
    }
  }

  /// Writes the result. Returns the job's remark.
  func write(to output: JobOutput) throws(JobFailure) -> String {
    let first = parts.parts[0]
    let reason: String? =
      if target.isLossless {
        "without a loss"
      } else if changes != SoundJoinChanges() {
        "coded as the name says"
      } else if !target.copies.contains(first.kind.codec) || parts.parts.contains(where: \.isLinked) {
        "coded again"
      } else {
        parts.parts.first { $0.kind != first.kind }.map { "coded again, since \($0.member.name) is not like the first" }
      }
    if let reason {
      try code(to: output)
      return parts.remark(reason)
    }
    if first.kind.codec == AV_CODEC_ID_MP3.rawValue { try copyFrames(to: output) } else { try copy(to: output) }
    return parts.remark("copied as they are")
  }

  // MARK: Tags and chapters

  /// Adds a chapter of the given length for each part, and writes the header, the tags and the cover.
  private func start(
    _ file: MediaOutput, _ lengths: [Double], _ options: [String: String] = [:]
  ) throws(JobFailure) {
    let all = parts.parts
    var chapters: [MediaChapter] = []
    for (part, length) in zip(all, lengths) {
      var tags = MediaTags()
      tags.set("title", part.tags["title"] ?? part.member.stem)
      let place = chapters.last?.end ?? 0
      chapters.append(MediaChapter(start: place, end: place + max(0.001, length), tags: tags))
    }
    for chapter in chapters { try file.add(chapter) }
    var tags = MediaTags()
    for (name, value) in all[0].tags.entries where Self.common.contains(name.lowercased()) {
      if all.allSatisfy({ $0.tags[name] == value }) { tags.set(name, value) }
    }
    if let album = tags["album"] { tags.set("title", album) }
    tags.set("tracktotal", "\(all.count)")
    if target.muxer == "flac" { tags.set("CUESHEET", chapters.cueSheet) }
    file.set(tags)
    guard target.cover == .stream else { return try file.start(options) }
    let input = try OpenSound(all[0].member.open(), track: nil).input
    let cover = input.cover
    let number = try cover.map { (cover) throws(JobFailure) in try file.addCover(cover, of: input) }
    try file.start(options)
    if let cover, let number { try file.writeCover(cover, of: input, to: number) }
  }

  /// The tags that are kept if all parts agree on them.
  private static let common: Set = [
    "album", "album_artist", "artist", "composer", "date", "genre", "copyright", "disc",
  ]

  // MARK: Copies

  private func copyFrames(to output: JobOutput) throws(JobFailure) {
    let file = try MediaOutput("mp3", to: output, isStreamed: true, isSeekable: true)
    let sounds = try OpenSound(parts.parts[0].member.open(), track: nil)
    let place = Int(unsafe try file.addStream(sounds.stream, of: sounds.input).pointee.index)
    let base = sounds.stream.timeBase
    let step = sounds.mp3Step
    var sizes: [Int] = []
    var lengths: [Double] = []
    var kept: [Int] = []
    var ends: (first: Int64, last: Int64) = (0, 0)
    for (index, part) in parts.parts.enumerated() {
      let frames = try OpenSound(part.member.open(), track: nil).frames()
      if index == 0 { ends.first = frames.padding.first }
      ends.last = frames.padding.last
      let isLast = index == parts.parts.count - 1
      // Padding at the end of a part is omitted if it is whole frames.
      let count = isLast ? frames.sizes.count : frames.sizes.count - Int(frames.padding.last / step)
      kept.append(max(0, count))
      sizes += frames.sizes.prefix(max(0, count))
      let samples = Int64(max(0, count)) * step - (index == 0 ? ends.first : 0) - (isLast ? ends.last : 0)
      lengths.append(Double(samples) / Double(part.kind.rate))
    }
    let information = MP3Information(
      rate: parts.parts[0].kind.rate, channels: min(2, parts.parts[0].kind.channels), sizes: sizes, padding: ends)
    try start(file, lengths, ["write_xing": "0"])
    try file.write(first: information.frame, to: place, timeBase: base)
    let packet = try MediaPacket()
    var done = 0
    for (part, count) in zip(parts.parts, kept) {
      let sound = try OpenSound(part.member.open(), track: nil)
      sound.input.use(only: [sound.stream.index])
      var number = 0
      while number < count, try sound.input.read(into: packet) {
        guard packet.stream == sound.stream.index else { continue }
        number += 1
        done += 1
        file.tell(Double(done) / Double(max(1, sizes.count)))
        try file.write(packet, to: place, timeBase: base)
      }
    }
    try file.finish()
  }

  private func copy(to output: JobOutput) throws(JobFailure) {
    let file = try MediaOutput(target.muxer, to: output, isStreamed: target.isStreamed)
    let first = try OpenSound(parts.parts[0].member.open(), track: nil)
    let place = Int(unsafe try file.addStream(first.stream, of: first.input).pointee.index)
    let rate = Int32(first.stream.rate)
    let samples = AVRational(num: 1, den: rate)
    try start(file, parts.parts.map(\.length))
    let packet = try MediaPacket()
    // The time of the next packet, in samples.
    var time: Int64?
    for (index, part) in parts.parts.enumerated() {
      let sound = try OpenSound(part.member.open(), track: nil)
      sound.input.use(only: [sound.stream.index])
      let frame = Int64(try unsafe sound.input.stream(sound.stream.index).pointee.codecpar.pointee.frame_size)
      let lengths = try PacketLength(sound.stream, of: sound.input)
      while try sound.input.read(into: packet) {
        guard packet.stream == sound.stream.index else { continue }
        let given = unsafe av_rescale_q(packet.pointer.pointee.pts, sound.stream.timeBase, samples)
        let told = unsafe av_rescale_q(packet.pointer.pointee.duration, sound.stream.timeBase, samples)
        let length = lengths.samples(in: packet) ?? (told > 0 ? told : frame)
        let now = time ?? (unsafe packet.pointer.pointee.pts == ffmedia_no_time ? 0 : given)
        unsafe packet.pointer.pointee.pts = now
        unsafe packet.pointer.pointee.dts = now
        unsafe packet.pointer.pointee.duration = length
        time = now + length
        // Padding is marked only at the end of the last part.
        if index < parts.parts.count - 1 { unsafe av_packet_free_side_data(packet.pointer) }
        try file.write(packet, to: place, timeBase: samples)
      }
      file.tell(Double(index + 1) / Double(parts.parts.count))
    }
    guard file.hasPackets else { throw JobFailure(.damaged, "has no sound in it") }
    try file.finish()
  }

  // MARK: Coding

  private func code(to output: JobOutput) throws(JobFailure) {
    var sound = changes.sound
    if target.isLossless {
      let depth = parts.parts.compactMap(\.facts.depth).max() ?? 16
      sound.depth = depth <= 16 ? 16 : depth <= 24 ? 24 : 32
    }
    let settings = try SoundSettings(target, for: parts.parts[0].facts, sound)
    let file = try MediaOutput(target.muxer, to: output, isStreamed: target.isStreamed)
    let encoder = try SoundEncoder(settings, wantsGlobalHeaders: file.wantsGlobalHeaders)
    let place = Int(unsafe try file.addStream(from: encoder.context, tags: MediaTags()).pointee.index)
    let fade = try changes.crossfade.map { (time) throws(JobFailure) in try Crossfade(time, settings.shape) }
    let overlap = changes.crossfade?.seconds ?? 0
    try start(file, parts.parts.enumerated().map { $1.length - ($0 < parts.parts.count - 1 ? overlap : 0) })
    func put(_ frame: MediaFrame) throws(JobFailure) {
      try encoder.encode(frame) { (packet) throws(JobFailure) in
        try file.write(packet, to: place, timeBase: encoder.timeBase)
      }
    }
    for (index, part) in parts.parts.enumerated() {
      let open = try OpenSound(part.member.open(), track: nil)
      let shape = fade?.shape ?? settings.shape
      try SoundReader(open.stream, of: open.input, as: shape, SoundChanges()).forEachFrame {
        (frame, share) throws(JobFailure) in
        if let fade { try fade.take(frame, put) } else { try put(frame) }
        file.tell((Double(index) + share) / Double(parts.parts.count))
      }
      try fade?.endPart(put)
    }
    try fade?.finish(put)
    try encoder.finish { (packet) throws(JobFailure) in
      try file.write(packet, to: place, timeBase: encoder.timeBase)
    }
    try file.finish()
  }
}
