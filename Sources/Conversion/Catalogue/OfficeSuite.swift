internal import Bytes
internal import Glibc

/// The installed LibreOffice.
public enum OfficeSuite {
  private static let folders = ["/usr/lib/libreoffice", "/usr/lib64/libreoffice", "/opt/libreoffice"]
  /// The directories of fonts, font substitutions and hyphenation.
  private static let data = [
    "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts", "/usr/share/fontconfig", "/usr/share/hyphen",
  ]
  /// The maximum number of directories that are examined.
  private static let foldersAtMost = 4096

  private static func library(in folder: String) -> String { "\(folder)/program/libmergedlo.so" }

  /// The installation directory. `nil` if LibreOffice is not installed.
  public static let folder = folders.first { unsafe access(library(in: $0), R_OK) == 0 }

  /// The system directories of the libraries that those in `folder` require.
  public static let libraryFolders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"]

  /// A hash of the installed LibreOffice and fonts, on which layouts depend besides the document. 16 hexadecimal
  /// digits. Computed once; O(font directories).
  static let state: String = {
    var hash = StableHash()
    if let folder { add(library(in: folder), to: &hash) }
    var waiting = data
    var seen = 0
    while let folder = waiting.popLast(), seen < foldersAtMost {
      add(folder, to: &hash)
      waiting += subfolders(of: folder)
      seen += 1
    }
    let digits = String(hash.value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }()

  /// Adds a file or directory. The time of a directory changes with the names in it.
  private static func add(_ path: String, to hash: inout StableHash) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return }
    hash.combine(path.utf8)
    for number in [Int(status.st_mtim.tv_sec), status.st_mtim.tv_nsec, Int(status.st_size)] {
      hash.combine(UInt64(bitPattern: Int64(number)))
    }
  }

  /// Returns the subdirectories, ordered by name.
  private static func subfolders(of path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var found: [String] = []
    while let entry = unsafe readdir(folder) {
      guard unsafe entry.pointee.d_type == UInt8(DT_DIR) else { continue }
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { found.append("\(path)/\(name)") }
    }
    return found.sorted()
  }
}

/// The `OfficeSuite.state` that a layout was made with. It is part of recipes so that new fonts cause new results.
/// Names cannot contain it.
public struct LayoutState: Modifiers {
  /// The state in a recipe. `nil` for the current state.
  private let given: String?

  public var description: String { given ?? OfficeSuite.state }

  public init() { given = nil }

  public init?(_ text: Substring) {
    guard text.utf8.count == 16, text.allSatisfy(\.isHexDigit) else { return nil }
    given = String(text)
  }

  public mutating func add(_ word: Substring) -> Bool { false }

  public static var examples: [(modifier: String, meaning: String)] { [] }
}
