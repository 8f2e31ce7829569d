internal import CFFmpeg
public import Catalogue
public import WorkerKit

/// A handler that converts a video's subtitles to text files.
public struct SubtitleHandler: JobHandler {
  private static let encoders = ["srt": "subrip", "vtt": "webvtt"]
  public static let verbs = ["srt", "vtt"]

  public init() {}

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    guard let changes = recipe.arguments.flatMap({ SubtitleChanges($0[...]) }), let encoder = Self.encoders[recipe.verb]
    else { throw .unknown }
    let input = try MediaInput(order.input())
    let texts = input.streams.filter { $0.kind == .subtitle && $0.isText }
    guard let first = texts.first(where: \.isDefault) ?? texts.first else {
      throw JobFailure(.unsupported, "has no subtitles that are text")
    }
    if let track = changes.track, track > texts.count {
      throw JobFailure(.absent, "has \(texts.count) subtitles only")
    }
    let stream = changes.track.map { texts[$0 - 1] } ?? first
    let made = try MediaOutput(recipe.verb == "vtt" ? "webvtt" : "srt", to: output, isStreamed: false)
    let text = try CodedText(stream, of: input, encoder, FilmWindow(of: input))
    try text.declare(in: made)
    try made.start()
    let packet = try MediaPacket()
    input.use(only: [stream.index])
    while try input.read(into: packet) {
      if packet.stream == stream.index { try text.take(packet, made) }
    }
    try made.finish()
    return input.shortfall
  }
}
