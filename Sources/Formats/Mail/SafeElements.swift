/// What becomes of elements and attributes in HTML that is to be safe to open.
///
/// Whatever is not named here has no effect in any browser, or is left out.
enum SafeElements {
  enum Element: Sendable {
    /// Stays.
    case kept
    /// Stays under another name, which its content is safe in.
    case renamed([UInt8])
    /// Its tags are left out, and its content is as any other.
    case unwrapped
    /// Left out with its content, which is no HTML.
    case removed
    /// Left out with all elements in it.
    case hidden
    /// Its content is style sheets.
    case style
    /// Stays, and its content is text, in which references to characters count.
    case text
    /// Becomes `<pre>`, and its content is text as it is.
    case literal
  }

  enum Attribute: Sendable {
    case kept
    /// A URL to go to.
    case link
    /// The URL of something shown in the page.
    case picture
    /// Several of them (`srcset`).
    case pictures
    /// A style sheet's declarations.
    case style
  }

  /// What becomes of an element; `name` as written. Elements that nobody knows have no effect but by their style: names with
  /// a hyphen or a colon are nobody's, others are better not kept for those who come to know them.
  static func element(_ name: ArraySlice<UInt8>) -> Element {
    if let known = HTMLName(name).flatMap({ elements[$0] }) { return known }
    let isNobodys =
      name.contains { $0 == 0x2d || $0 == 0x3a }
      && name.allSatisfy { $0.isAsciiLetter && $0 < 0x80 || $0.isAsciiDigit || [0x2d, 0x3a, 0x5f, 0x2e].contains($0) }
    return isNobodys ? .kept : .renamed(Array("span".utf8))
  }

  /// What becomes of an attribute; nil when it is left out.
  static func attribute(_ name: ArraySlice<UInt8>) -> Attribute? {
    if let known = HTMLName(name).flatMap({ attributes[$0] }) { return known }
    // They mean something to scripts and style sheets alone, and to those who read the page aloud.
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
