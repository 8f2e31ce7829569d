/// The resources of a page, and an unused name among its fonts.
struct PageFonts {
  /// The name, with its slash.
  let name: String
  private let resources: ObjectText
  private let fonts: ObjectText

  init(of page: PageTree.Page, _ objects: ObjectCache) {
    let own = page.text.hasValue(for: "/Resources") ? page.text.value(of: "/Resources") : nil
    let value = own ?? page.inherited["/Resources"]?.bytes[...]
    let nothing = ObjectText(Array("<< >>".utf8))
    let given = value.map(objects.resolved) ?? nothing
    let resources = given.isDictionary ? given : nothing
    let listed = resources.value(of: "/Font").map(objects.resolved) ?? nothing
    let fonts = listed.isDictionary ? listed : nothing
    let names = (0...fonts.entries.count).lazy.map { "/Scan\($0)" }
    name = names.first { fonts.value(of: $0) == nil } ?? "/Scan"
    self.resources = resources
    self.fonts = fonts
  }

  /// Returns the resources with another font, in PDF syntax.
  func adding(_ font: Int) -> [UInt8] {
    var text = resources.without(["/Font"]).bytes.dropLast(2)
    text += " /Font ".utf8 + fonts.bytes.dropLast(2) + Array(" \(name) \(font) 0 R >> >>".utf8)
    return Array(text)
  }
}
