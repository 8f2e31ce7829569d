/// A kind of image file that can be made: what stands behind `.as-`.
public enum ImageFormat: String, CaseIterable, Sendable {
  case jpeg
  case png
  case webp
  case tiff
  case gif
  case heic
  case avif
  case jp2
  case pdf

  /// By its name, or as files of it are called too.
  public init?(spelling: String) {
    guard let format = Self.others[spelling] ?? ImageFormat(rawValue: spelling) else { return nil }
    self = format
  }

  private static let others = ["jpg": ImageFormat.jpeg, "tif": .tiff, "heif": .heic]

  /// All that `init(spelling:)` takes.
  public static let spellings = allCases.map(\.rawValue) + others.keys
}
