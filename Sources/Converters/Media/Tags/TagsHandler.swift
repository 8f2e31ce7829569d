internal import CFFmpeg
public import Catalogue
public import WorkerKit

/// A handler that lists the tags of sounds, films and pictures.
public struct TagsHandler: JobHandler {
  public static let verbs = [Conversion.mediaTags.verb, Conversion.pictureTags.verb]

  public init() {}

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    let input = try order.input()
    let tags = recipe.verb == Conversion.pictureTags.verb ? try PictureTags.tags(of: input) : try Self.tags(of: input)
    try unsafe output.write(Array(tags.text.utf8).span.bytes)
    return ""
  }

  /// Returns the tags of a container and those of its streams that it lacks, its chapters and its language.
  private static func tags(of input: JobInput) throws(JobFailure) -> TagList {
    let input = try MediaInput(input)
    var list = TagList()
    // Ogg has the tags of a sound in its stream.
    let first = input.streams.first { $0.kind == .sound } ?? input.streams.first
    let all = input.tags.completed(by: first?.tags ?? MediaTags())
    for (name, value) in all.entries where !isData(name) { list.add(name.lowercased(), value) }
    for stream in input.streams {
      if let title = stream.tags["title"] { list.add("track", title) }
      if let language = stream.tags["language"], language != "und" { list.add("language", language) }
    }
    for chapter in input.chapters {
      if let title = chapter.tags["title"] { list.add("chapter", title) }
    }
    return list
  }

  /// Returns whether a tag is data for programs.
  private static func isData(_ name: String) -> Bool {
    let name = name.lowercased()
    return name.hasPrefix("id3v2_priv") || name == "cuesheet" || name == "metadata_block_picture"
      || name.hasPrefix("itun")
  }
}
