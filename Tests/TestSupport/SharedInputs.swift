internal import Foundation

/// The files that scripts make as inputs. Each script runs once for all tests that start it with the same words.
private actor SharedInputs {
  static let all = SharedInputs()

  private var made: [[String]: Task<[String: [UInt8]], any Error>] = [:]

  /// The contents of the files, by their paths.
  func files(_ words: [String]) async throws -> [String: [UInt8]] {
    let task = made[words] ?? Task { try await Self.make(words) }
    made[words] = task
    return try await task.value
  }

  private static func make(_ words: [String]) async throws -> [String: [UInt8]] {
    try await withScratch { scratch in
      _ = try await script(words[0], words: [scratch.source] + words.dropFirst(), limit: 100)
      var files: [String: [UInt8]] = [:]
      for path in FileManager.default.enumerator(atPath: scratch.source)?.compactMap({ $0 as? String }) ?? [] {
        // A directory has no contents.
        files[path] = FileManager.default.contents(atPath: "\(scratch.source)/\(path)").map(Array.init)
      }
      return files
    }
  }
}

extension MountScratch {
  /// Writes the files into SOURCE that a script makes in the folder that is its first word.
  public func make(_ name: String, _ words: String...) async throws {
    for (path, bytes) in try await SharedInputs.all.files([name] + words) { try write(path, bytes) }
  }
}
