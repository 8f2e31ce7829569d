public import Bytes

/// A kind of file: what files of it are called, how they start, and what they are to programs.
///
/// Listings, sniffing, `ffmount formats` and names such as `.as-jpeg` are made from formats and conversions.
public struct Format: Sendable {
  public enum Family: Sendable {
    case image, rawPhoto, pageDocument, officeDocument, sound, film, table, archive, mail, text
  }

  /// Unique; in names after `.as-`, and in recipes.
  public let name: String
  /// Other spellings of the name: `jpg`.
  public let otherNames: [String]
  /// Lower case, the usual one first.
  public let extensions: [FileExtension]
  public let mimeType: String
  /// Other names of its MIME type, and those of its kinds.
  public let otherMimeTypes: [String]
  public let family: Family
  /// Whether a file that starts with these bytes, 4 KiB of it if it has as many, is of the format.
  public let isSignature: @Sendable (ArraySlice<UInt8>) -> Bool
  /// How a file that is made in the format starts, as far as formats are recognized by it.
  public let head: [UInt8]

  /// - Parameter signature: nil if its bytes do not identify the format.
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
  /// The extensions of all.
  public var extensions: Set<FileExtension> { reduce(into: []) { $0.formUnion($1.extensions) } }
}

extension ArraySlice<UInt8> {
  /// Whether the bytes of `text` occur in sequence.
  func contains(run text: StaticString) -> Bool {
    unsafe withUnsafeBytes { bytes in
      let sought = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
      return bytes.indices.contains { unsafe bytes[$0...].starts(with: sought) }
    }
  }

  /// Whether the bytes from `offset` on are those of `text`.
  func has(_ text: StaticString, at offset: Int) -> Bool {
    unsafe dropFirst(offset).starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
