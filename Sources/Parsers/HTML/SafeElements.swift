internal import Text

/// The treatment of elements and attributes in HTML that has to be safe to open.
///
/// Anything not listed here has no effect in any browser, or is removed.
enum SafeElements {
  enum Element: Sendable {
    /// Kept.
    case kept
    /// Kept under another name, which is safe for its content.
    case renamed([UInt8])
    /// Its tags are removed, its content is kept.
    case unwrapped
    /// Removed with its content, which is not HTML.
    case removed
    /// Removed with all elements in it.
    case hidden
    /// Contains a style sheet.
    case style
    /// Kept; its content is text with character references.
    case text
    /// Becomes `<pre>`, and its content is literal text.
    case literal
  }

  enum Attribute: Sendable {
    case kept
    /// A URL to navigate to.
    case link
    /// The URL of something shown in the page.
    case picture
    /// A list of such URLs (`srcset`).
    case pictures
    /// A style sheet's declarations.
    case style
  }

  /// Returns the treatment of an element, whose `name` is as written. Unknown elements have no effect except by style.
  /// Names with a hyphen or a colon are never standard elements. Others are renamed, because browsers may give them a
  /// meaning.
  static func element(_ name: ArraySlice<UInt8>) -> Element {
    if let known = HTMLName(name).flatMap({ elements[$0] }) { return known }
    let isNobodys =
      name.contains { $0 == 0x2d || $0 == 0x3a }
      && name.allSatisfy { $0.isAsciiLetter && $0 < 0x80 || $0.isAsciiDigit || [0x2d, 0x3a, 0x5f, 0x2e].contains($0) }
    return isNobodys ? .kept : .renamed(Array("span".utf8))
  }

  /// Returns the treatment of an attribute. Returns `nil` if it is removed.
  static func attribute(_ name: ArraySlice<UInt8>) -> Attribute? {
    if let known = HTMLName(name).flatMap({ attributes[$0] }) { return known }
    // Meaningful only to scripts, style sheets and screen readers.
    let lowercase = name.prefix(5).map(\.asciiLowercase)
    guard lowercase.elementsEqual("data-".utf8) || lowercase.elementsEqual("aria-".utf8) else { return nil }
    return name.allSatisfy { $0.isAsciiLetter && $0 < 0x80 || $0.isAsciiDigit || $0 == 0x2d || $0 == 0x5f }
      ? .kept : nil
  }

  private static let elements: [HTMLName: Element] = {
    var elements: [HTMLName: Element] = [:]
    func add(_ names: String, _ element: Element) {
      for name in names.split(separator: " ") { elements[HTMLName(name)] = element }
    }
    add(
      """
      a abbr acronym address area article aside audio b bdi bdo big blockquote body br button caption center cite code col \
      colgroup data dd del details dfn dialog dir div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 \
      head header hgroup hr html i img input ins kbd label legend li listing main map mark marquee menu meter nav nobr ol \
      optgroup option output p picture pre progress q rb rp rt rtc ruby s samp search section select small source span strike \
      strong sub summary sup table tbody td tfoot th thead time tr tt u ul var video wbr
      """, .kept)
    add("image", .renamed(Array("img".utf8)))
    add(
      "applet base basefont bgsound embed frame frameset link meta noembed noframes noscript object param track",
      .unwrapped
    )
    add("script iframe", .removed)
    add("template", .hidden)
    add("style", .style)
    add("title textarea", .text)
    add("xmp plaintext", .literal)
    return elements
  }()

  private static let attributes: [HTMLName: Attribute] = {
    var attributes: [HTMLName: Attribute] = [:]
    func add(_ names: String, _ attribute: Attribute) {
      for name in names.split(separator: " ") { attributes[HTMLName(name)] = attribute }
    }
    add(
      """
      abbr align alink alt axis bgcolor border bordercolor cellpadding cellspacing char charoff checked class clear \
      color cols colspan compact controls coords datetime dir direction disabled face for frame headers height hidden high \
      hspace id ismap label lang leftmargin link loop low marginheight marginwidth max maxlength media min multiple muted \
      name noshade nowrap open optimum placeholder readonly rel reversed role rows rowspan rules scope scrollamount \
      scrolldelay selected shape size sizes span start summary target text title topmargin translate type usemap valign \
      value vlink vspace width wrap
      """, .kept)
    add("href", .link)
    add("src background poster", .picture)
    add("srcset", .pictures)
    add("style", .style)
    return attributes
  }()
}
