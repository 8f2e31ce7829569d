/// How coded pixels are to be read and shown, in the words of a PDF's image dictionary where there are any.
public struct PictureForm: Sendable {
  /// Of the picture as it is shown, in pixels.
  public let width: Int
  public let height: Int
  /// Pixels an inch.
  public let density: Double
  /// EXIF's: how the data still have to be turned.
  public let orientation: Int
  /// What the image's dictionary says of its size and bits, but not of its colours.
  public let coding: String
  /// By which the data are read, with its slash.
  public let filter: String
  /// Of colours: 1, 3 or 4.
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
