/// How coded pixels are to be read and shown, in the words of a PDF's image dictionary where there are any.
public struct PictureForm: Sendable {
  /// Of the picture as it is shown, in pixels.
  public let width: Int
  public let height: Int
  /// Pixels an inch.
  public let density: Double
  /// EXIF's: how the data still have to be turned.
  public let orientation: Int
  /// What the image's dictionary says of its size and coding, but not of its colours.
  public let coding: String
  /// Of colours: 1, 3 or 4.
  public let components: Int
  public let profile: [UInt8]?

  public init(
    width: Int, height: Int, density: Double, orientation: Int, coding: String, components: Int, profile: [UInt8]?
  ) {
    self.width = width
    self.height = height
    self.density = density
    self.orientation = orientation
    self.coding = coding
    self.components = components
    self.profile = profile
  }
}
