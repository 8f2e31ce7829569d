/// The appearance of a scanned page.
public enum ScanFilter: String, CaseIterable, Sendable {
  /// Colours are kept, with white paper and without shadows.
  case colour
  case gray
  /// Black on white, one bit per pixel.
  case bw
  /// The page as it was photographed.
  case photo
  case sepia
  case vivid
}
