public import Foundation

/// Whether two sequences of bytes are equal; fast without an optimizer, unlike `==`.
public func areSame(_ one: [UInt8], _ other: ArraySlice<UInt8>) -> Bool {
  guard one.count == other.count else { return false }
  return unsafe one.withUnsafeBytes { one in
    unsafe other.withUnsafeBytes { other in
      unsafe one.count == 0 || memcmp(one.baseAddress!, other.baseAddress!, one.count) == 0
    }
  }
}

/// The folder of shared files beside the project; nil on a machine without them.
public let sharedCorpus: URL? = {
  let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let corpus = package.deletingLastPathComponent().appendingPathComponent("shared/corpus")
  return FileManager.default.fileExists(atPath: corpus.path) ? corpus : nil
}()
