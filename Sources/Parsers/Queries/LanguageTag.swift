/// A language as documents declare it and queries name it: BCP 47, in lower case, with two letters where ISO 639-1 has
/// them.
package struct LanguageTag: Sendable, Equatable {
  /// The tag, such as `de-at`.
  package let text: String

  /// The maximum length of a tag (RFC 5646, section 4.4.1).
  private static let longest = 35

  /// Parses a declared language, such as `de-AT`, `de_AT.UTF-8` or `ger`. Returns `nil` if it is not a language tag, or
  /// says that the language is unknown.
  package init?(_ declared: some StringProtocol) {
    let plain = declared.prefix { $0 != "." && $0 != "@" && $0 != "," && !$0.isWhitespace }
    var parts = plain.lowercased().split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
    guard let first = parts.first, (2...8).contains(first.utf8.count), plain.utf8.count <= Self.longest,
      parts.allSatisfy({ (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(Self.isAllowed) }),
      first.utf8.allSatisfy({ (0x61...0x7a).contains($0) }), !Self.unknown.contains(String(first))
    else { return nil }
    if let short = Self.shortCodes[String(first)] { parts[0] = Substring(short) }
    text = parts.joined(separator: "-")
  }

  /// Parses a tag of a language that ISO 639-1 lists. Returns `nil` if it is not one, as most words are not.
  package init?(listed declared: some StringProtocol) {
    guard let tag = LanguageTag(declared), Self.listed.contains(String(tag.text.prefix { $0 != "-" })) else {
      return nil
    }
    self = tag
  }

  private static let listed = Set(shortCodes.values)

  private static func isAllowed(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) }

  /// The codes of no language, of several and of an unknown one.
  private static let unknown: Set = ["und", "zxx", "mul", "mis"]

  /// The codes with two letters by those with three (ISO 639-2, both forms).
  private static let shortCodes: [String: String] = Dictionary(
    uniqueKeysWithValues: codes.split(separator: " ").map { (String($0.prefix(3)), String($0.suffix(2))) })

  private static let codes = """
    aaraa abkab afraf akaak albsq amham araar argan armhy asmas avaav aveae aymay azeaz bakba bambm baqeu belbe \
    benbn bihbh bisbi bodbo bosbs brebr bulbg burmy catca cescs chach chece chizh chucu chvcv corkw cosco crecr \
    cymcy czecs danda deude divdv dutnl dzodz ellel engen epoeo estet euseu eweee faofo fasfa fijfj finfi frafr \
    frefr fryfy fulff geoka gerde glagd glega glggl glvgv greel grngn gujgu hatht hauha hebhe herhz hinhi hmoho \
    hrvhr hunhu hyehy iboig iceis idoio iiiii ikuiu ileie inaia indid ipkik islis itait javjv jpnja kalkl kankn \
    kasks katka kaukr kazkk khmkm kikki kinrw kirky komkv konkg korko kuakj kurku laolo latla lavlv limli linln \
    litlt ltzlb lublu luglg macmk mahmh malml maomi marmr mayms mkdmk mlgmg mltmt monmn mrimi msams myamy nauna \
    navnv nblnr ndend ndong nepne nldnl nnonn nobnb norno nyany ocioc ojioj orior ormom ossos panpa perfa plipi \
    polpl porpt pusps quequ rohrm ronro rumro runrn rusru sagsg sansa sinsi slksk slosk slvsl smese smosm snasn \
    sndsd somso sotst spaes sqisq srdsc srpsr sswss sunsu swasw swesv tahty tamta tattt telte tgktg tgltl thath \
    tibbo tirti tonto tsntn tsots tuktk turtr twitw uigug ukruk urdur uzbuz venve vievi volvo welcy wlnwa wolwo \
    xhoxh yidyi yoryo zhaza zhozh zulzu
    """
}
