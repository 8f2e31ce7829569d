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
}
