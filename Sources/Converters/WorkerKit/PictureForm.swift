/// The parameters for decoding and showing an image's data, in the syntax of a PDF image dictionary where it has one.
public struct PictureForm: Sendable {
  /// The size of the image as it is shown, in pixels.
  public let width: Int
  public let height: Int
  /// The density in pixels per inch.
  public let density: Double
  /// The EXIF orientation, which describes how the decoded data must be rotated or mirrored.
  public let orientation: Int
  /// The entries of the image dictionary for size and bits, without those for colours.
  public let coding: String
  /// The name of the filter that decodes the data, with its slash.
  public let filter: String
  /// The number of colour components: 1, 3 or 4.
  public let components: Int
  public let profile: [UInt8]?

  public init(
    width: Int, height: Int, density: Double, orientation: Int, coding: String, filter: String, components: Int,
    profile: [UInt8]?
  ) {
    self.width = width
    self.height = height
    self.density = density
    self.orientation = orientation
    self.coding = coding
    self.filter = filter
    self.components = components
    self.profile = profile
  }
}
