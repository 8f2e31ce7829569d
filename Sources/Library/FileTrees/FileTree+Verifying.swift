internal import Bytes
package import SystemPackage
internal import Tree

extension FileTree {
  /// The result of reading a file from its first byte to its last.
  package struct Verification: Sendable {
    /// Whether a container has a checksum of the bytes, and they match it.
    package let hasChecksum: Bool
    /// Whether a checksum exists that could not be verified.
    package let isOpen: Bool
    /// The size in bytes.
    package let size: Int64
  }

  /// Reads all of a file to verify its checksums.
  ///
  /// - Parameter progress: Called with the number of bytes read since the last call.
  /// - Throws: The error of reading the file, such as a wrong checksum.
  package func verify(
    _ path: FilePath, progress: @escaping @Sendable (Int64) -> Void
  ) async throws(FileTreeError) -> Verification {
    try await run(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: false)
      let file = try waiting { () throws(Fault) in try place.open(.blocking) }
      var offset: Int64 = 0
      while true {
        try CancellationToken.check()
        let start = offset
        let count = try waiting { () throws(Fault) in try file.skim(at: start) }
        if count == 0 { break }
        offset += Int64(count)
        progress(Int64(count))
      }
      let assurance = file.source.assurance(of: 0..<offset)
      return Verification(hasChecksum: assurance == .checked, isOpen: assurance == .open, size: offset)
    }
  }

  /// Reads the target of a symbolic link to verify its checksum.
  ///
  /// - Throws: The error of reading the target, such as a wrong checksum.
  package func verifyLink(_ path: FilePath) async throws(FileTreeError) {
    try await run(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: false)
      _ = try waiting { () throws(Fault) in try tree.linkTarget(place.node, .blocking) }
    }
  }
}

extension Tree.OpenFile {
  /// Reads and discards bytes. Returns their number.
  fileprivate func skim(at offset: Int64) throws(Fault) -> Int {
    try reading(.blocking) { (source) throws(Fault) in
      var outcome = Result<Int, Fault>.success(0)
      unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 20, alignment: 16) { buffer in
        do throws(Fault) {
          let count = unsafe try source.read(into: buffer, at: offset, .blocking)
          outcome = .success(count)
        } catch { outcome = .failure(error) }
      }
      return try outcome.get()
    }
  }
}
