/// The user interface description of the comment window. LibreOffice's packages without a screen have its code, but not
/// its description, without which no document with a comment opens. The window is never shown, and does not appear in
/// results.
enum MissingWindow {
  static let name = "annotation.ui"
  /// The path among the user interface descriptions.
  static let place = "modules/swriter/ui/\(name)"

  /// The widgets that the code requires, by their names.
  static let text = """
    <?xml version="1.0" encoding="UTF-8"?>
    <interface><requires lib="gtk+" version="3.20"/>\
    <object class="GtkMenu" id="menu">\(choices.map { part("GtkMenuItem", $0) }.joined())</object>\
    <object class="GtkBox" id="Annotation">\
    <child><object class="GtkScrolledWindow" id="scrolledwindow"><child><object class="GtkViewport">\
    <child><object class="GtkBox">\(part("GtkDrawingArea", "editview"))</object></child></object></child></object></child>\
    <child><object class="GtkBox">\(["author", "date", "resolved"].map { part("GtkLabel", $0) }.joined())\
    <child><object class="GtkMenuButton" id="menubutton"><property name="popup">menu</property></object></child>\
    </object></child></object></interface>

    """

  private static let choices = [
    "reply", "resolve", "unresolve", "resolvethread", "unresolvethread", "delete", "deletethread", "deleteby",
    "deleteall", "formatall",
  ]

  private static func part(_ kind: String, _ name: String) -> String {
    "<child><object class=\"\(kind)\" id=\"\(name)\"/></child>"
  }
}
