/// The formats that images are converted to, by the verbs of their conversions.
public enum ImageFormat: String, CaseIterable, Sendable {
  case jpeg, png, webp, tiff, gif, heic, avif, jp2, pdf
}
