internal import Bytes

/// The programs that read archives without a built-in parser.
public enum ArchiveReader: String, Sendable {
  /// ffarchive, by libarchive.
  case library = ""
  /// ffdisk, by 7-Zip's library and others: disk images and encrypted archives.
  case disk = "disk-"
  /// ffdisk, by The Sleuth Kit: the deleted files of an image.
  case deleted = "deleted-"

  public var program: String {
    switch self {
    case .library: "ffarchive"
    case .disk, .deleted: "ffdisk"
    }
  }
}

/// Conversions of archives without a built-in parser: the list of entries, and the entries' bytes.
extension Conversion {
  public static let archives = readers(.library) + [decoded]
  public static let disks = readers(.disk) + readers(.deleted) + [outline, entryParts]

  private static func readers(_ reader: ArchiveReader) -> [Conversion] {
    [entries(by: reader), members(by: reader), unpacked(by: reader)]
  }

  public static let entries = entries(by: .library)

  /// The list of an archive's entries. See `EntryRecord`.
  public static func entries(by reader: ArchiveReader) -> Conversion {
    var conversion = make("entries", by: reader, to: .entryList, result: "the list of their entries")
    conversion.outputLimit = 1 << 30
    return conversion
  }

  /// The list of an archive whose password is unknown. Encrypted links have no targets.
  public static let outline = make("outline", by: .disk, to: .entryList, result: "the list of their entries")

  /// The bytes of some entries, by their numbers in the list. See `MemberFaults`.
  public static func members(by reader: ArchiveReader) -> Conversion {
    make("members", by: reader, arguments: PageSelection.self)
  }

  /// The bytes of some entries, readable while they are decoded.
  public static func unpacked(by reader: ArchiveReader) -> Conversion {
    var conversion = make("unpacked", by: reader, arguments: PageSelection.self)
    conversion.making = .growing
    return conversion
  }

  /// The bytes of one entry of a disk image, of which parts are made.
  public static let entryParts: Conversion = {
    var conversion = make("parts", by: .disk, arguments: PageSelection.self)
    conversion.making = .parts
    return conversion
  }()

  /// The bytes of one entry of a ZIP archive. The input is only the entry's compressed bytes.
  public static let decoded = make("decoded", by: .library, arguments: PackedEntry.self, of: "entries of archives")

  private static func make(
    _ verb: String, by reader: ArchiveReader, arguments: (any Arguments.Type)? = nil, to format: Format = .entryBytes,
    of sources: String = "archives", result: String = "the bytes of their entries"
  ) -> Conversion {
    var conversion = Conversion(
      reader.rawValue + verb, from: [], to: format, as: .inView, arguments: arguments, size: .guess(1),
      programs: [reader.program],
      meaning: (reader == .library ? sources : "disk images", sources == "archives" ? result : "their bytes"))
    conversion.outputLimit = Job.largestOutput
    conversion.slowness = 60
    return conversion
  }
}

extension Recipe {
  public static func entries(by reader: ArchiveReader) -> Recipe { Recipe(verb: Conversion.entries(by: reader).verb) }

  public static let outline = Recipe(verb: Conversion.outline.verb)

  public static func decoded(_ entry: PackedEntry) -> Recipe { Recipe(verb: Conversion.decoded.verb, entry) }

  /// Returns the recipe for a range of entries.
  ///
  /// - Parameters:
  ///   - first: The number of the first entry, from 0.
  ///   - isGrowing: Whether the bytes are read while they are decoded.
  public static func members(
    _ first: Int, through last: Int, isGrowing: Bool, by reader: ArchiveReader
  ) -> Recipe {
    let conversion = isGrowing ? Conversion.unpacked(by: reader) : Conversion.members(by: reader)
    return Recipe(verb: conversion.verb, PageSelection("\(first + 1)-\(last + 1)"))
  }

  /// Returns the recipe for the bytes of one entry of a disk image.
  ///
  /// - Parameter number: The number of the entry, from 0.
  public static func entryParts(_ number: Int) -> Recipe {
    Recipe(verb: Conversion.entryParts.verb, PageSelection(page: number + 1))
  }
}

extension Format {
  static let entryList = Format(
    "entry-list", extensions: [], mimeType: "application/octet-stream", family: .archive)
  static let entryBytes = Format(
    "entry-bytes", extensions: [], mimeType: "application/octet-stream", family: .archive)
}
