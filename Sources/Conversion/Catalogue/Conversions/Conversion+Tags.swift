/// Conversions to the tags of files: `NAME.tags.txt`. See `TagList`.
extension Conversion {
  public static let tags: [Conversion] = [mediaTags, pictureTags, documentTags]

  /// The tags of a sound or film, with its chapters.
  public static let mediaTags = tags(
    "media-tags", of: Format.sounds + Format.films, "any sound or film", "its title, artist, chapters and other tags",
    by: ["ffmedia"])

  /// The tags of a picture: EXIF, XMP and IPTC.
  public static let pictureTags = tags(
    "picture-tags", of: Format.images.filter { $0 != .svg }, "any image",
    "its title, description, keywords, place, camera and date", by: ["ffmedia"])

  /// The tags of a PDF.
  public static let documentTags = tags(
    "document-tags", of: [.pdf], "any PDF", "its title, author, keywords and language", by: ["ffpages", "ffconvert"]
  ).reducible(for: [.pdf])

  private static func tags(
    _ verb: String, of sources: [Format], _ name: String, _ meaning: String, by programs: [String]
  ) -> Conversion {
    Conversion(
      verb, named: "tags", from: sources, to: .plainText, as: .whole, size: .guess(1), programs: programs,
      meaning: (name, meaning))
  }
}
