internal import Bytes
internal import Catalogue
internal import Codecs
internal import Entries
internal import WorkerKit
internal import Zip

/// The parts of an office document: the files in its archive, and their references to each other (ECMA-376, part 2).
final class OfficePackage {
  private let archive: ZipArchive

  /// A part's reference to another part or an external target.
  struct Relationship {
    /// The last component of its type: `image`, `hyperlink`.
    let kind: String
    /// A path in the package. The recorded text for external targets.
    let target: String
    let isOutside: Bool
  }

  /// The maximum size of a part, in bytes, which real documents do not reach.
  private static let largestPart: Int64 = 2 << 30

  init(_ input: JobInput) throws(JobFailure) {
    var options = ZipOptions()
    options.largestSize = Self.largestPart
    do throws(Fault) {
      archive = try ZipArchive(
        MappedSource(input), modified: Timestamp(seconds: 0), cache: BlockCache(capacity: 8 << 20), options: options)
    } catch {
      guard error.kind == .damaged else { throw JobFailure(error) }
      throw JobFailure(.damaged, "is not a readable office document", saying: error.description)
    }
  }

  /// Returns the names of the files in a directory of the package.
  func names(in path: String) -> [String] {
    guard let folder = node(path) else { return [] }
    return archive.children(of: folder).map { String(decoding: archive.name(of: $0), as: UTF8.self) }
  }

  private func node(_ path: String) -> UInt32? {
    var node = ZipArchive.root
    for name in path.split(separator: "/") {
      guard let child = archive.child(of: node, named: FileName(name.utf8)) else { return nil }
      node = child
    }
    return node
  }

  /// Returns a part's bytes. Returns `nil` if there is no such part.
  func part(_ path: String) throws(JobFailure) -> (any ByteSource)? {
    guard let node = node(path), archive.node(node).kind == .file else { return nil }
    do throws(Fault) { return try archive.open(node, .blocking) } catch { throw JobFailure(error) }
  }

  /// Returns a parser of a part. Returns `nil` if there is no such part.
  func reader(_ path: String) throws(JobFailure) -> MarkupReader? {
    guard let part = try part(path) else { return nil }
    return try MarkupReader(part)
  }

  /// Returns all bytes of a part. Returns `nil` if it has more than `most`, or cannot be read.
  func bytes(_ path: String, upTo most: Int) -> [UInt8]? {
    guard let part = try? part(path), part.size <= most else { return nil }
    return try? part.bytes(at: 0, count: Int(part.size))
  }

  /// Returns the references of a part, by their IDs.
  func relationships(of path: String) throws(JobFailure) -> [String: Relationship] {
    let (folder, name) = Self.split(path)
    guard let reader = try reader("\(folder)_rels/\(name).rels") else { return [:] }
    var found: [String: Relationship] = [:]
    while let event = try reader.next() {
      guard case .start(let element) = event, element.name == "Relationship", let id = element["Id"],
        let target = element["Target"]
      else { continue }
      let kind = element["Type"]?.split(separator: "/").last.map(String.init) ?? ""
      let isOutside = element["TargetMode"] == "External"
      found[id] = Relationship(
        kind: kind, target: isOutside ? target : Self.resolve(target, from: folder), isOutside: isOutside)
    }
    return found
  }

  /// Returns the path of the first part of a kind that another part references.
  func target(_ kind: String, of path: String) throws(JobFailure) -> String? {
    try relationships(of: path).values.first { $0.kind == kind && !$0.isOutside }?.target
  }

  /// Splits a path into its directory, with a slash at the end, and its name.
  private static func split(_ path: String) -> (folder: String, name: String) {
    let slash = path.lastIndex(of: "/")
    return slash.map { (String(path[...$0]), String(path[path.index(after: $0)...])) } ?? ("", path)
  }

  /// Returns the path to which a reference in a part in `folder` resolves.
  static func resolve(_ target: String, from folder: String) -> String {
    var steps: [Substring] = target.hasPrefix("/") ? [] : folder.split(separator: "/")
    for step in target.split(separator: "/") {
      switch step {
      case ".": break
      case "..": _ = steps.popLast()
      default: steps.append(step)
      }
    }
    return steps.joined(separator: "/")
  }
}

extension JobFailure {
  /// Creates a failure from a fault in the package's bytes.
  init(_ fault: Fault) {
    let kind: JobAnswer.Failure =
      switch fault.kind {
      case .damaged, .changed: .damaged
      case .unsupported: .unsupported
      case .locked: .locked
      case .limit: .limit
      case .system, .later, .pending, .interrupted: .system
      }
    self.init(kind, "cannot be read", saying: fault.description)
  }
}
