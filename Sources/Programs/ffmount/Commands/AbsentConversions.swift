import Assembly
import Bytes
import Catalogue
import FileTrees
import Tree

/// The conversions that are unavailable because their programs are not installed.
enum AbsentConversions {
  /// Conversions of the standard catalogue without an installed program, with the sources that need one.
  private static let all: [Conversion] = {
    let installed = Converter.installed
    return Catalogue.standard.conversions.compactMap { $0.remainder { installed[$0] != nil } }
  }()

  /// The views that are directories, the conversions that make them, and the extensions of files of unknown formats that
  /// have them.
  private static let folders: [(view: String, conversion: Conversion, extensions: Set<FileExtension>)] = [
    (
      "contents", .entries,
      ["7z", "rar", "iso", "cpio", "ar", "a", "deb", "rpm", "cab", "lha", "lzh", "xar", "warc", "mtree"]
    ),
    ("contents", .entries(by: .disk), Set(DiskFormat.usualExtensions.map { FileExtension($0.utf8) })),
    ("deleted", .entries(by: .deleted), ["img", "ntfs", "fat", "exfat", "ext2", "ext3", "ext4"]),
    ("messages", .letters, ["pst", "ost"]), ("views", .letters, ["pst", "ost"]),
    ("pages", .pages, []), ("sheets", .sheet, []), ("streams", .tracks, []), ("frames", .frames, []),
    ("hls", .playlist, []), ("tracks", .cueSheet, ["cue"]), ("tiles", .tiles, []),
  ]

  /// Returns the missing programs that would make views of a file.
  static func programs(forFileNamed name: String) -> [String] {
    guard let kind = FileName(name.utf8).fileExtension else { return [] }
    let format = Catalogue.standard.format(named: kind)
    let conversions = all.filter { conversion in format.map { conversion.sources.contains($0) } ?? false }
    let listed = folders.filter { $0.extensions.contains(kind) }.map(\.conversion).filter(isAbsent)
    return names(of: conversions + listed)
  }

  /// Returns the missing programs that would make the view `view` of a file, such as `as-pdf` or `compressed.pdf`.
  static func programs(forView view: String, ofFileNamed name: String) -> [String] {
    guard let kind = FileName(name.utf8).fileExtension else { return [] }
    let format = Catalogue.standard.format(named: kind)
    let word = view.split(separator: ".").last.map(String.init) ?? view
    let folders = folders.filter { $0.view == word }
    if !folders.isEmpty {
      let fitting = folders.filter { folder in
        folder.extensions.contains(kind) || format.map { folder.conversion.sources.contains($0) } ?? false
      }
      return names(of: fitting.map(\.conversion).filter(isAbsent), of: format)
    }
    guard let format else { return [] }
    let stem = "x."
    let asked = FormatSuffix.split(FileName("\(stem)\(view)".utf8))
    let modifiers = String(decoding: asked?.source.dropFirst(stem.utf8.count) ?? [], as: UTF8.self)
    return names(
      of: all.filter { conversion in
        guard conversion.sources.contains(format) else { return false }
        switch conversion.naming {
        case .suffix:
          return (asked?.asksFor(conversion.result) ?? false) && conversion.recipe(modifiers, of: format) != nil
        case .stem, .whole:
          return conversion.result.extensions.contains { ".\(view)".hasSuffix(".\(conversion.word).\($0.text)") }
        case .folder, .inView: return false
        }
      }, of: format)
  }

  /// Returns the reason why a file lacks a view because programs are not installed, with the remedy. Returns `nil` if
  /// none is missing.
  static func reason(forView view: String, ofFileNamed name: String) -> String? {
    let programs = programs(forView: view, ofFileNamed: name)
    if programs.isEmpty { return nil }
    let verb = programs.count > 1 ? "are" : "is"
    return "\(programs.joinedWithAnd) \(verb) not installed (\(Converter.remedy(programs)))"
  }

  /// Returns the reason why a file lacks its folder view because programs are not installed, with the remedy. Returns
  /// `nil` if none is missing.
  static func reason(forFoldersOfFileAt path: String) -> String? {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return folders.firstNonNil { reason(forView: $0.view, ofFileNamed: name) }
  }

  /// Returns the reason why the entries or messages in a file cannot be read because programs are not installed, with the
  /// remedy. Returns `nil` if none is missing.
  static func reason(forContentsOfFileNamed name: String) -> String? {
    ["contents", "messages"].firstNonNil { reason(forView: $0, ofFileNamed: name) }
  }

  private static func isAbsent(_ conversion: Conversion) -> Bool { all.contains { $0.verb == conversion.verb } }

  /// Returns the preferred program of each conversion, without duplicates. For a view of a file of a format, packages
  /// prefer the program that takes the least space.
  private static func names(of conversions: [Conversion], of format: Format? = nil) -> [String] {
    let isReduced = PackageCommand.isPackaged
    let programs = conversions.map { conversion in
      isReduced && format.map(conversion.isReducible(for:)) ?? false ? Converter.reduced : conversion.programs.first
    }
    return Set(programs.compactMap(\.self)).sorted()
  }
}
