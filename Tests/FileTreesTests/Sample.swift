import FileTrees
import Foundation
import SystemPackage
import TestSupport

/// A folder of files like those that people have, and a tree of it. It is removed with its last reference.
final class Sample: Sendable {
  private let folder: SourceFolder
  private let cache: SourceFolder
  let tree: FileTrees.FileTree

  /// - Parameter names: of files of scripts/sample that are in it.
  init(_ names: String..., options change: (inout FileTrees.FileTree.Options) -> Void = { _ in }) throws {
    folder = try SourceFolder()
    cache = try SourceFolder()
    let samples = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../scripts/sample")
    for name in names {
      try FileManager.default.copyItem(
        at: samples.appending(path: name), to: URL(filePath: folder.path).appending(path: name))
    }
    var options = FileTrees.FileTree.Options()
    options.cache = .folder(FilePath(cache.path))
    change(&options)
    tree = try FileTrees.FileTree(at: FilePath(folder.path), options: options)
  }

  /// The absolute path of something in it.
  func path(_ name: String) -> String { name.isEmpty ? folder.path : "\(folder.path)/\(name)" }

  func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    try Data(bytes).write(to: URL(filePath: path(name)))
  }

  func write(_ text: String, to name: String) throws { try write(text.utf8, to: name) }

  /// What the system has, whatever the tree says.
  func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

  func names(in name: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
  }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
  }

  func makeLink(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
  }

  /// Makes files in it by a python program, which begins in the folder.
  func make(by code: String) throws {
    let given = try Python.output(of: "import os\nos.chdir(\(quoted(folder.path)))\n" + code)
    if given == nil { throw CocoaError(.fileWriteUnknown) }
  }

  private func quoted(_ text: String) -> String { "'\(text)'" }

  /// A program beside the tests'.
  static func run(_ program: String, _ arguments: String...) throws -> String {
    let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let process = Process()
    process.executableURL = own.appending(path: program)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension AsyncSequence where Self: Sendable {
  func all() async throws -> [Element] {
    var elements: [Element] = []
    for try await element in self { elements.append(element) }
    return elements
  }
}
