public import Bytes

/// A file format: its names, extensions, MIME types, signature and family.
public struct Format: Sendable {
  public enum Family: Sendable {
    case image, rawPhoto, pageDocument, officeDocument, sound, film, table, archive, mail, text
  }

  /// The name after `.as-` and in recipes. Unique.
  public let name: String
  /// Other spellings of the name: `jpg`.
  public let otherNames: [String]
  /// The extensions in lower case, the most common first.
  public let extensions: [FileExtension]
  public let mimeType: String
  /// Other names of the MIME type, and the types of variants.
  public let otherMimeTypes: [String]
  public let family: Family
  /// Whether a file that starts with these bytes has this format. The bytes are the first 4 KiB, or the whole file if
  /// it is smaller.
  public let isSignature: @Sendable (ArraySlice<UInt8>) -> Bool
  /// The first bytes of files made in this format. Empty if they do not identify it.
  public let head: [UInt8]

  /// Creates a format.
  ///
  /// - Parameter signature: The test for the format. If `nil`, files that start with `head` match, and no files if that
  ///   is empty.
  public init(
    _ name: String, otherNames: [String] = [], extensions: [FileExtension], mimeType: String,
    otherMimeTypes: [String] = [],
    family: Family, head: [UInt8] = [], signature: (@Sendable (ArraySlice<UInt8>) -> Bool)? = nil
  ) {
    self.name = name
    self.otherNames = otherNames
    self.extensions = extensions
    self.mimeType = mimeType
    self.otherMimeTypes = otherMimeTypes
    self.family = family
    self.head = head
    isSignature = signature ?? { bytes in !head.isEmpty && bytes.starts(with: head) }
  }
}

extension Format: Hashable {
  public static func == (one: Format, other: Format) -> Bool { one.name == other.name }
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Sequence<Format> {
  /// The extensions of all formats.
  public var extensions: Set<FileExtension> { reduce(into: []) { $0.formUnion($1.extensions) } }
}

extension ArraySlice<UInt8> {
  /// Returns whether the bytes of `text` occur in sequence.
  func contains(run text: StaticString) -> Bool {
    unsafe withUnsafeBytes { bytes in
      let sought = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
      return bytes.indices.contains { unsafe bytes[$0...].starts(with: sought) }
    }
  }

  /// Returns whether the bytes of `text` are at `offset`.
  func has(_ text: StaticString, at offset: Int) -> Bool {
    unsafe dropFirst(offset).starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
