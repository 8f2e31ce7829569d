internal import CFFmpeg
public import Catalogue
public import WorkerKit

/// A handler that makes images of single pictures of a video, and of the covers of audio files.
public struct StillHandler: JobHandler {
  public static let verbs = ["still-jpeg", "still-png"]
  private static let codings: [String: PictureCoding] = ["still-jpeg": .jpeg, "still-png": .png]

  public init() {}

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    guard let coding = Self.codings[recipe.verb], let changes = recipe.arguments.flatMap({ StillChanges($0[...]) })
    else { throw .unknown }
    let input = try MediaInput(order.input())
    guard let reader = try PictureReader(input) else {
      try writeCover(of: input, coding, changes, to: output)
      return ""
    }
    if changes.isContactSheet {
      let sheet = try ContactSheet.make(reader, width: changes.sheetWidth)
      let picture = try StillPicture.filtered(sheet, "scale=out_range=pc,format=\(coding.pixelFormat)")
      try StillPicture.write(picture, coding, quality: changes.quality, to: output)
      return ""
    }
    let picture: MediaFrame?
    if let time = changes.time {
      if let length = input.duration, time.seconds > length { throw JobFailure(.absent, "is not as long as that") }
      picture = try reader.picture(at: time.seconds)
    } else {
      picture = try TellingPicture.find(reader)
    }
    guard let picture else { throw JobFailure(.damaged, "has no picture that can be decoded") }
    let shaped = try StillPicture.shaped(picture, reader.stream, of: input, coding) { changes.scale($0) }
    try StillPicture.write(shaped, coding, quality: changes.quality, to: output)
    return ""
  }

  /// Returns the number of stills of a film with a length in seconds: one for each second that begins.
  static func count(in length: Double) -> Int64 { Int64(max(1, min(length.rounded(.up), 1_000_000))) }

  /// Returns the length of a video in seconds. A picture of each second is available.
  public mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard case .count = order.job.work else { throw .unknown }
    let input = try MediaInput(order.input())
    guard input.streams.contains(where: { $0.kind == .film }), let length = input.duration else { return .done(0) }
    return .done(Self.count(in: length))
  }

  private func writeCover(
    of input: MediaInput, _ coding: PictureCoding, _ changes: StillChanges, to output: JobOutput
  ) throws(JobFailure) {
    guard !changes.isContactSheet, changes.time == nil, let stream = input.streams.first(where: { $0.kind == .cover })
    else { throw JobFailure(.unsupported, "has no picture; NAME.waveform.as-png is one of its sound") }
    let original = try unsafe input.stream(stream.index)
    let packet = try MediaPacket()
    try unsafe checked(av_packet_ref(packet.pointer, &original.pointee.attached_pic), "has a cover that cannot be read")
    if changes == StillChanges(), stream.codecName == coding.encoder {
      let bytes = unsafe UnsafeRawBufferPointer(
        start: packet.pointer.pointee.data, count: Int(packet.pointer.pointee.size))
      return try unsafe output.write(bytes.bytes)
    }
    var shaped: MediaFrame?
    let decoder = try MediaDecoder(stream, of: input)
    func take(_ frame: MediaFrame) throws(JobFailure) {
      shaped = try StillPicture.shaped(frame, stream, of: input, coding) { changes.scale($0) }
    }
    try decoder.decode(packet, take)
    try decoder.decode(nil, take)
    guard let shaped else { throw JobFailure(.damaged, "has a cover that cannot be decoded") }
    try StillPicture.write(shaped, coding, quality: changes.quality, to: output)
  }
}

extension StillChanges {
  fileprivate func scale(_ sides: (Double, Double)) -> Double {
    switch size {
    case .longestSide(let side): min(1, Double(side) / max(sides.0, sides.1))
    case .within(let width, let height): min(1, Double(width) / sides.0, Double(height) / sides.1)
    case .percent(let percent): min(1, Double(percent) / 100)
    case nil: 1
    }
  }

  fileprivate var sheetWidth: Int? {
    switch size {
    case .longestSide(let side): side
    case .within(let width, _): width
    case .percent, nil: nil
    }
  }
}
