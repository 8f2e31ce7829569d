internal import CGsf
internal import CXML2
internal import Text

/// The system's files that are needed for reading documents, loaded before the sandbox closes.
public final class OfficeLibrary {
  private let converters: [CharsetConverter]

  public init() {
    xmlInitParser()
    gsf_init()
    converters = DecodedText.prepare()
  }
}
