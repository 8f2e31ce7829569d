internal import CGsf
internal import CXML2
internal import Text

/// What reading documents needs of the system's files, loaded while they can be.
public final class OfficeLibrary {
  private let converters: [CharsetConverter]

  public init() {
    xmlInitParser()
    gsf_init()
    converters = DecodedText.prepare()
  }
}
