internal import Bytes
internal import PersonalFolders
internal import WorkerKit

/// The folders of an Outlook store, in the order of the tree.
struct StoreFolders {
  struct Folder {
    /// The names of the folder and its parents, separated by `/`.
    let path: String
    /// The numbers of its messages.
    let messages: [UInt32]
    /// Whether Outlook does not show the folder. Only mail in it is listed.
    let isHidden: Bool
  }

  private(set) var folders: [Folder] = []
  /// The paths of folders by their numbers.
  private(set) var paths: [UInt32: String] = [:]
  /// The number of folders that cannot be read.
  private(set) var lost = 0
  private let file: StoreFile

  private static let store: UInt32 = 0x21
  private static let root: UInt32 = 0x122
  private static let deepest = 64
  private static let most = 1 << 20

  init(_ file: StoreFile) {
    self.file = file
    // An entry ID (MS-PST, section 2.4.3.2) ends with the number.
    let store = (try? file.node(Self.store)).flatMap { try? PropertyList($0) }
    let entry = (try? store?.value(0x35e0, atMost: 64))?.bytes
    let shown = entry.flatMap { $0.count == 24 ? UInt32($0, at: 20) : nil }
    // Folders that Outlook shows come first.
    if let shown { add(shown, "", depth: 0, isHidden: false) }
    add(Self.root, "", depth: 0, isHidden: shown != nil)
  }

  private mutating func add(_ number: UInt32, _ path: String, depth: Int, isHidden: Bool) {
    // A folder can claim to contain itself.
    guard depth < Self.deepest, paths.count < Self.most, paths[number] == nil else { return }
    // Messages directly in the root get its name as their path.
    let path = path.isEmpty && depth > 0 ? "unnamed" : path
    paths[number] = path.isEmpty ? name(of: number) : path
    if let rows = rows(number, 0x0e), !rows.isEmpty {
      folders.append(Folder(path: paths[number] ?? path, messages: rows, isHidden: isHidden))
    }
    for inner in rows(number, 0x0d) ?? [] where inner & 0x1f == StoreNode.Kind.folder {
      let name = name(of: inner)
      add(inner, path.isEmpty ? name : "\(path)/\(name)", depth: depth + 1, isHidden: isHidden)
    }
  }

  /// Returns the numbers in a table of a folder. Returns `nil` if it cannot be read.
  private mutating func rows(_ folder: UInt32, _ table: UInt32) -> [UInt32]? {
    guard let node = (try? file.node(folder & ~0x1f | table)) ?? nil, let table = try? StoreTable(node) else {
      lost += 1
      return nil
    }
    return table.rows.map(\.number)
  }

  private func name(of folder: UInt32) -> String {
    let list = ((try? file.node(folder)) ?? nil).flatMap { try? PropertyList($0) }
    let name = list.flatMap { try? StoreProperties($0).text(0x3001) } ?? "unnamed"
    return name.replacing("/", with: "-")
  }
}
