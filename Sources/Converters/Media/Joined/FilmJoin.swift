internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The videos of a directory, joined into one. Each contributes its first video and audio track. Packets are copied if
/// all files are alike. Otherwise they are encoded again, with the size and rate of the first.
struct FilmJoin {
  private struct Part {
    let member: JoinedMember
    /// The kinds of the streams. `nil` if the part has to be encoded.
    let kinds: [Kind]?
    /// The length in seconds.
    let length: Double
    let title: String
    let hasSound: Bool
    /// Whether the file has further tracks, which are omitted.
    let isCutDown: Bool
  }

  /// The properties that must be equal for packets to follow one another.
  private struct Kind: Equatable {
    let codec: UInt32
    let shape: [Int]
    /// The header before all packets.
    let head: [UInt8]

    init(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) {
      let original = try unsafe input.stream(stream.index)
      let parameters = unsafe original.pointee.codecpar.pointee
      codec = stream.codec.rawValue
      let turn = unsafe PictureGeometry.rotation(of: original)
      shape = [stream.width, stream.height, stream.rate, stream.channels, turn, Int(unsafe parameters.format)]
      head = unsafe Array(
        UnsafeBufferPointer(start: parameters.extradata, count: Int(max(0, parameters.extradata_size))))
    }
  }

  /// The maximum length of a part, in seconds, whatever the file claims.
  private static let longest = 1e9
  private let parts: JoinedParts<Part>
  private let container: FilmContainer
  private let changes: FilmChanges

  init(_ members: [JoinedMember], in container: FilmContainer, _ changes: FilmChanges) throws(JobFailure) {
    self.container = container
    self.changes = changes
    parts = try JoinedParts(members) { (member) throws(JobFailure) in
      let input = try MediaInput(member.open())
      let plan = try FilmPlan(input, container, changes)
      let used = try Self.used(plan)
      let isCopied = used.allSatisfy { $0.way == .copied }
      return Part(
        member: member,
        kinds: try isCopied
          ? used.map { (track) throws(JobFailure) in try Kind(track.stream, of: input) } : nil,
        length: min(Self.longest, input.duration ?? 0), title: input.tags["title"] ?? member.stem,
        hasSound: used.count > 1, isCutDown: plan.tracks.count > used.count)
    }
  }

  /// Returns the first video track, and the first audio track if there is one.
  private static func used(_ plan: FilmPlan) throws(JobFailure) -> [(stream: MediaStream, way: FilmPlan.Way)] {
    guard let picture = plan.tracks.first(where: { $0.stream.kind == .film }) else {
      throw JobFailure(.unsupported, "has no pictures")
    }
    return [picture] + plan.tracks.filter { $0.stream.kind == .sound }.prefix(1)
  }

  /// Writes the result. Returns the job's remark.
  func write(to output: JobOutput) throws(JobFailure) -> String {
    let all = parts.parts
    let more = all.contains(where: \.isCutDown) ? ", each with its first picture and sound" : ""
    let kinds = all[0].kinds
    guard let other = all.first(where: { $0.kinds == nil || $0.kinds != kinds }) else {
      // Two passes, so that the index precedes the packets.
      let rehearsal = PatchedMuxerIO()
      try copy(to: MediaOutput(container.muxer, through: rehearsal, telling: nil, isStreamed: false))
      if rehearsal.layout.isUnknown {
        try copy(to: MediaOutput(container.muxer, to: output, isStreamed: false))
      } else {
        let door = PatchedMuxerIO(rehearsal.layout, hasIndexFirst: container.hasIndexFirst, to: output)
        try copy(to: MediaOutput(container.muxer, through: door, telling: output, isStreamed: true))
      }
      return parts.remark("copied as they are\(more)")
    }
    try code(to: MediaOutput(container.muxer, to: output, isStreamed: false))
    let isAsked = changes.changePictures || changes.codec != nil
    let reason = isAsked || other.kinds == nil ? "" : ", since \(other.member.name) is not like the first"
    return parts.remark("coded again\(reason)\(more)")
  }

  /// Adds a chapter for each part, and writes the header.
  private func start(_ file: MediaOutput) throws(JobFailure) {
    var place = 0.0
    for part in parts.parts {
      var tags = MediaTags()
      tags.set("title", part.title)
      try file.add(MediaChapter(start: place, end: place + max(0.001, part.length), tags: tags))
      place += part.length
    }
    unsafe file.context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
    try file.start(container.options)
  }

  private func tell(_ file: MediaOutput, _ index: Int) { file.tell(Double(index) / Double(parts.parts.count)) }

  // MARK: Copies

  private func copy(to file: MediaOutput) throws(JobFailure) {
    var before: [CopiedTrack] = []
    for (index, part) in parts.parts.enumerated() {
      let input = try open(part)
      let streams = try Self.used(FilmPlan(input, container, changes)).map(\.stream)
      let tracks = try streams.map { (stream) throws(JobFailure) in try CopiedTrack(stream, of: input, container) }
      if before.isEmpty {
        for track in tracks { try track.declare(in: file) }
        try start(file)
      } else {
        let end = before.map(\.end).max() ?? 0
        for (track, last) in zip(tracks, before) { track.follow(last, at: end) }
      }
      try read(input) { (packet) throws(JobFailure) in
        try tracks.first { $0.source == packet.stream }?.take(packet, file)
      }
      before = tracks
      tell(file, index + 1)
    }
    guard file.hasPackets else { throw JobFailure(.damaged, "has nothing in it that can be played") }
    try file.finish()
  }

  private func open(_ part: Part) throws(JobFailure) -> MediaInput {
    let input = try MediaInput(part.member.open())
    unsafe input.context.pointee.flags |= AVFMT_FLAG_GENPTS
    return input
  }

  private func read(
    _ input: MediaInput, _ body: (MediaPacket) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let packet = try MediaPacket()
    while try input.read(into: packet) { try body(packet) }
  }

  // MARK: Coding

  private func code(to file: MediaOutput) throws(JobFailure) {
    guard var coding = container.coding(changes.codec) else { throw .unknown }
    // All parts have the same rate.
    coding.keepsTimes = false
    let sounding = changes.isMute ? nil : parts.parts.first(where: \.hasSound)
    let sound = try sounding.map { (part) throws(JobFailure) in
      try JoinedSound(of: OpenSound(part.member.open(), track: nil), hasGlobalHeader: file.wantsGlobalHeaders)
    }
    var first: CodedPictures?
    var last: CodedPictures?
    for (index, part) in parts.parts.enumerated() {
      let input = try open(part)
      let used = try Self.used(FilmPlan(input, container, changes, copies: false))
      let pictures: CodedPictures
      if let first, let last {
        pictures = try CodedPictures(used[0].stream, of: input, coding, following: first)
        let frames = AVRational(num: first.rate.den, den: first.rate.num)
        let heard = sound.map { av_rescale_q($0.count, AVRational(num: 1, den: Int32($0.rate)), frames) } ?? 0
        pictures.follow(last, at: max((last.latest ?? -1) &+ 1, heard))
      } else {
        pictures = try CodedPictures(
          used[0].stream, of: input, coding, changes, FilmWindow(of: input), hasGlobalHeader: file.wantsGlobalHeaders)
        try pictures.declare(in: file)
        try sound?.declare(in: file)
        try start(file)
      }
      first = first ?? pictures
      last = pictures
      pictures.endsEncoder = index == parts.parts.count - 1
      let stream = used.count > 1 ? used[1].stream : nil
      try sound?.begin(stream, of: input)
      try read(input) { (packet) throws(JobFailure) in
        if packet.stream == pictures.source { try pictures.take(packet, file) }
        if packet.stream == stream?.index { try sound?.take(packet, file) }
      }
      try pictures.take(nil, file)
      let seen = Double((pictures.latest ?? -1) &+ 1) * Double(pictures.rate.den) / Double(max(1, pictures.rate.num))
      try sound?.endPart(at: seen, file)
      tell(file, index + 1)
    }
    try sound?.finish(file)
    try file.finish()
  }
}
