extension Provenance {
  package static let keys = alwaysThere + ["error", "remark", "also"]
  static let alwaysThere = ["source", "view", "state"]

  package subscript(key: String) -> String? {
    switch key {
    case "source": source
    case "view": view
    case "state": state.rawValue
    case "error": error
    case "remark": remark
    case "also": also
    default: nil
    }
  }
}
