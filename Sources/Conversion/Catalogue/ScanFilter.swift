/// What a photographed page is made to look like.
public enum ScanFilter: String, CaseIterable, Sendable {
  /// Paper is white, shadows are gone, colours stay.
  case colour
  case gray
  /// Black on white, a bit a pixel.
  case bw
  /// As it was photographed.
  case photo
  case sepia
  case vivid
}
