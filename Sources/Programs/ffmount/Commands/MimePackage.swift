import AllViews
import Tree

/// The names of views for shared-mime-info, so that programs know `photo.heic.as-jpeg` without reading it.
enum MimePackage {
  /// The contents of an XML file for the directory `mime/packages`.
  static var text: String {
    let types = Dictionary(grouping: Views.mimeTypes, by: \.type).sorted { $0.key < $1.key }
    let elements = types.map { type, names in
      // Above the weight of usual patterns, which is 50.
      let globs = names.map { "    <glob pattern=\"*.\($0.ending)\" weight=\"80\"/>" }
      return (["  <mime-type type=\"\(type)\">"] + globs + ["  </mime-type>"]).joined(separator: "\n")
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
      \(elements.joined(separator: "\n"))
      </mime-info>
      """
  }
}
