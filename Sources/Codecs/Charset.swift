internal import CPosix

/// A character set of iconv's.
public struct Charset: Sendable {
  private let name: String

  /// nil when iconv does not know a set of that name.
  public init?(_ name: String) {
    self.name = name
    if utf8([0x41]) == nil { return nil }
  }

  /// What `bytes` say in UTF-8; nil when they are not of this set.
  public func utf8(_ bytes: some Collection<UInt8>) -> [UInt8]? {
    let input = bytes.map { CChar(bitPattern: $0) }
    // No set needs more than four bytes of UTF-8 for one of its own.
    var output = [CChar](repeating: 0, count: input.count * 4 + 16)
    let count = unsafe ffmount_utf8(name, input, input.count, &output, output.count)
    return count < 0 ? nil : output[..<count].map { UInt8(bitPattern: $0) }
  }
}
