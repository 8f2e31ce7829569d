internal import Bytes
internal import Foundation

/// One rule of the contract: the contents of the source, and what its mount must show.
public struct ConformanceCase: Sendable, CustomStringConvertible {
  /// The options of `-o`.
  public struct Options: Sendable {
    /// `views=` with a preset. `nil` for the default one.
    public var preset: String?
    /// `views=+…`.
    public var added: [String]
    /// `views=-…`.
    public var removed: [String]
    /// `depth=…`.
    public var depth: Int

    public init(preset: String? = nil, added: [String] = [], removed: [String] = [], depth: Int = 4) {
      self.preset = preset
      self.added = added
      self.removed = removed
      self.depth = depth
    }

    /// The command-line arguments.
    public var arguments: [String] {
      // A comma separates options, a colon the words of one.
      let words = (preset.map { [$0] } ?? []) + added.map { "+\($0)" } + removed.map { "-\($0)" }
      return words.map { "views=\($0)" }.flatMap { ["-o", $0] } + (depth == 4 ? [] : ["-o", "depth=\(depth)"])
    }
  }

  public let description: String
  public var options = Options()
  /// The file in the source to mount; nil for the folder itself.
  public var file: String?
  let build: @Sendable (SourceFolder) throws -> Void
  let check: @Sendable (ConformanceMount) throws -> Void

  init(
    _ description: String, options: Options = Options(), file: String? = nil,
    source build: @escaping @Sendable (SourceFolder) throws -> Void,
    check: @escaping @Sendable (ConformanceMount) throws -> Void
  ) {
    self.description = description
    self.options = options
    self.file = file
    self.build = build
    self.check = check
  }

  /// Builds the source, mounts it with `mount` as often as the case needs it, and checks it; throws if it does not
  /// conform.
  public func run(mount: @escaping (SourceFolder, ConformanceCase) throws -> any FileTree) throws {
    let source = try SourceFolder()
    try build(source)
    let first = try mount(source, self)
    try check(ConformanceMount(source: source, tree: first) { try mount(source, self) })
  }
}

/// A mount under test and its source.
public struct ConformanceMount {
  let source: SourceFolder
  let tree: any FileTree
  /// Mounts the same source once more, beside or after the first mount.
  let again: () throws -> any FileTree
}

/// A deviation from the contract.
public struct Nonconformance: Error, CustomStringConvertible {
  public let description: String
}

/// A case that this machine does not support.
public struct CannotBeShown: Error {
  public let reason: String
}

/// Throws unless both are equal.
func same<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
  if found != expected { throw Nonconformance(description: "\(what): expected \(expected), found \(found)") }
}

func sameBytes(_ found: [UInt8], _ expected: [UInt8], _ what: String) throws {
  guard areSame(found, expected[...]) else {
    let place = zip(found, expected).enumerated().first { $1.0 != $1.1 }?.offset
    throw Nonconformance(
      description: "\(what): expected \(expected.count) bytes, found \(found.count), alike up to byte "
        + "\(place ?? min(found.count, expected.count))")
  }
}

func isTrue(_ condition: Bool, _ what: String) throws {
  if !condition { throw Nonconformance(description: what) }
}

/// Throws unless `body` fails with this errno.
func fails<Value>(_ errno: Int32, _ what: String, _ body: () throws -> Value) throws {
  do {
    let value = try body()
    throw Nonconformance(description: "\(what): expected errno \(errno), found \(value)")
  } catch let error as FileTreeError {
    try same(error.errno, errno, what)
  }
}

/// Retries until `body` succeeds: a mount may take a second to notice a change. Throws the last failure.
func eventually(_ body: () throws -> Void) throws {
  for _ in 0..<60 {
    do { return try body() } catch { usleep(50_000) }
  }
  try body()
}

func names(_ texts: String...) -> [FileName] { texts.map { FileName($0) } }

extension [FileName] {
  var texts: [String] { map(\.text) }
  var sortedTexts: [String] { texts.sorted() }
}
