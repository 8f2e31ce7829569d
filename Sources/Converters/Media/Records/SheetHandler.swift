public import Catalogue
public import WorkerKit

/// A handler that lists the tracks of an album that is one file, by the cue sheet in its tags or else by its chapters.
public struct SheetHandler: JobHandler {
  public static let verbs = [Conversion.cueSheet.verb]

  public init() {}

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    let sound = try OpenSound(order.input(), track: nil)
    let text = sound.tags["cuesheet"] ?? sound.input.chapters.cueSheet
    if text.isEmpty {
      throw JobFailure(.unsupported, "has neither a cue sheet in it that divides it nor chapters")
    }
    try unsafe output.write(Array(text.utf8).span.bytes)
    return ""
  }
}

extension [MediaChapter] {
  /// A cue sheet that divides a file at the starts of its chapters. Empty if it has none.
  var cueSheet: String {
    if isEmpty { return "" }
    var text = "FILE \"\" WAVE\n"
    for (index, chapter) in enumerated() {
      guard (0..<1e7).contains(chapter.start) else { continue }
      text += "TRACK \(index + 1) AUDIO\n"
      if let title = chapter.tags["title"] {
        text += "TITLE \"\(String(title.map { $0.isNewline ? " " : $0 }))\"\n"
      }
      let frames = Int((chapter.start * Double(MediaTime.framesPerSecond)).rounded())
      let seconds = frames / 75
      text += "INDEX 01 \(seconds / 60):\(seconds % 60):\(frames % 75)\n"
    }
    return text
  }
}
