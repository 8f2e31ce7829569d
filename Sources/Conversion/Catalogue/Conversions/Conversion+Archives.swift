internal import Bytes

/// Conversions of archives without a built-in parser: the list of entries, and the entries' bytes.
extension Conversion {
  public static let archives: [Conversion] = [entries, members, unpacked, decoded]

  /// The list of an archive's entries. See `EntryRecord`.
  public static let entries: Conversion = {
    var conversion = Conversion(
      "entries", from: [], to: .entryList, as: .inView, size: .guess(1), programs: ["ffarchive"],
      meaning: ("archives", "the list of their entries"))
    conversion.outputLimit = 1 << 30
    conversion.slowness = 60
    return conversion
  }()

  /// The bytes of some entries, by their numbers in the list. See `MemberFaults`.
  public static let members = bytes("members", .whole)

  /// The bytes of some entries, readable while they are decoded.
  public static let unpacked = bytes("unpacked", .growing)

  /// The bytes of one entry of a ZIP archive. The input is only the entry's compressed bytes.
  public static let decoded: Conversion = {
    var conversion = Conversion(
      "decoded", from: [], to: .entryBytes, as: .inView, arguments: PackedEntry.self, size: .guess(1),
      programs: ["ffarchive"], meaning: ("entries of archives", "their bytes"))
    conversion.outputLimit = Job.largestOutput
    conversion.slowness = 60
    return conversion
  }()

  private static func bytes(_ verb: String, _ making: Making) -> Conversion {
    var conversion = Conversion(
      verb, from: [], to: .entryBytes, as: .inView, arguments: PageSelection.self, size: .guess(1),
      programs: ["ffarchive"], meaning: ("archives", "the bytes of their entries"))
    conversion.making = making
    conversion.outputLimit = Job.largestOutput
    conversion.slowness = 60
    return conversion
  }
}

extension Recipe {
  public static let entries = Recipe(verb: Conversion.entries.verb)

  public static func decoded(_ entry: PackedEntry) -> Recipe { Recipe(verb: Conversion.decoded.verb, entry) }

  /// Returns the recipe for a range of entries.
  ///
  /// - Parameters:
  ///   - first: The number of the first entry, from 0.
  ///   - isGrowing: Whether the bytes are read while they are decoded.
  public static func members(_ first: Int, through last: Int, isGrowing: Bool) -> Recipe {
    let verb = isGrowing ? Conversion.unpacked.verb : Conversion.members.verb
    return Recipe(verb: verb, PageSelection("\(first + 1)-\(last + 1)"))
  }
}

extension Format {
  static let entryList = Format(
    "entry-list", extensions: [], mimeType: "application/octet-stream", family: .archive)
  static let entryBytes = Format(
    "entry-bytes", extensions: [], mimeType: "application/octet-stream", family: .archive)
}
