internal import Bytes
internal import Glibc

/// LibreOffice, where it is installed.
public enum OfficeSuite {
  private static let folders = ["/usr/lib/libreoffice", "/usr/lib64/libreoffice", "/opt/libreoffice"]
  /// Where fonts and hyphenation come from, and what says which font stands for another.
  private static let data = [
    "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts", "/usr/share/fontconfig", "/usr/share/hyphen",
  ]
  /// No system has more folders of fonts.
  private static let foldersAtMost = 4096

  private static func library(in folder: String) -> String { "\(folder)/program/libmergedlo.so" }

  /// The folder with all of it; nil if it is not installed.
  public static let folder = folders.first { unsafe access(library(in: $0), R_OK) == 0 }

  /// Where the system has the libraries that those in `folder` need.
  public static let libraryFolders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"]

  /// What layouts depend on besides the document, in hexadecimal digits: which LibreOffice and which fonts there are. Looked
  /// at once; O(folders of fonts).
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

  /// A folder's time changes with the names in it.
  private static func add(_ path: String, to hash: inout StableHash) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return }
    hash.combine(path.utf8)
    for number in [Int(status.st_mtim.tv_sec), status.st_mtim.tv_nsec, Int(status.st_size)] {
      hash.combine(UInt64(bitPattern: Int64(number)))
    }
  }

  /// In the order of their names.
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

/// What a layout was made with: `OfficeSuite.state`, in recipes so that new fonts give new results. No name has words for it.
public struct LayoutState: Modifiers {
  /// nil for what there is now.
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
