internal import Bytes

/// Containers of film, in the order in which they are recognized.
extension Format {
  public static let mp4 = film("mp4", ["mp4"], "video/mp4", head: Array("\0\0\0\u{1c}ftypisom".utf8)) {
    isBranded($0, besides: ["M4A ", "M4B ", "M4V ", "M4VH", "qt  ", "f4v ", "F4V "])
      && !["3gp", "3gr", "3gs", "3ge", "3g2"].contains(brand(of: $0)?.prefix(3) ?? "") && isFilmBrand($0)
  }
  public static let m4v = film("m4v", ["m4v"], "video/x-m4v", head: Array("\0\0\0\u{1c}ftypM4V ".utf8)) {
    ["M4V ", "M4VH"].contains(brand(of: $0))
  }
  public static let mov = film("mov", ["mov", "qt"], "video/quicktime", head: Array("\0\0\0\u{14}ftypqt  ".utf8)) {
    brand(of: $0) == "qt  " || $0.has("moov", at: 4) || $0.has("mdat", at: 4) || $0.has("wide", at: 4)
  }
  public static let threeGP = film("3gp", ["3gp", "3gpp"], "video/3gpp", head: Array("\0\0\0\u{18}ftyp3gp4".utf8)) {
    ["3gp", "3gr", "3gs", "3ge"].contains(brand(of: $0)?.prefix(3) ?? "")
  }
  public static let threeG2 = film("3g2", ["3g2", "3gpp2"], "video/3gpp2", head: Array("\0\0\0\u{18}ftyp3g2a".utf8)) {
    brand(of: $0)?.prefix(3) == "3g2"
  }
  public static let f4v = film("f4v", ["f4v"], "video/x-f4v", head: Array("\0\0\0\u{1c}ftypf4v ".utf8)) {
    ["f4v ", "F4V "].contains(brand(of: $0))
  }
  public static let webm = film("webm", ["webm"], "video/webm", head: matroskaHead + Array("webm".utf8)) {
    $0.starts(with: matroskaHead) && $0.prefix(64).contains(run: "webm")
  }
  public static let mkv = film("mkv", ["mkv", "mk3d"], "video/x-matroska", head: matroskaHead) {
    $0.starts(with: matroskaHead)
  }
  public static let avi = film("avi", ["avi", "divx"], "video/vnd.avi", head: Array("RIFF\0\0\0\0AVI LIST".utf8)) {
    $0.has("RIFF", at: 0) && $0.has("AVI ", at: 8)
  }
  /// Films for small portable players.
  public static let amv = film("amv", ["amv"], "video/x-amv", head: Array("RIFF\0\0\0\0AMV LIST".utf8)) {
    $0.has("RIFF", at: 0) && $0.has("AMV ", at: 8)
  }
  public static let flv = film("flv", ["flv"], "video/x-flv", head: Array("FLV\u{1}".utf8))
  public static let wmv = film("wmv", ["wmv"], "video/x-ms-wmv", head: asfHead)
  /// Windows Media under its container's name.
  public static let asf = film("asf", ["asf"], "video/x-ms-asf", head: asfHead)
  public static let vob = film("vob", ["vob"], "video/x-ms-vob", head: [0, 0, 1, 0xba])
  public static let mpeg = film(
    "mpeg", otherNames: ["mpg"], ["mpg", "mpeg", "m2p", "m1v", "m2v", "mpe"], "video/mpeg", head: [0, 0, 1, 0xba]
  ) { $0.starts(with: [0, 0, 1, 0xba]) || $0.starts(with: [0, 0, 1, 0xb3]) }
  /// An MPEG transport stream. TypeScript uses the same extension.
  public static let ts = film("ts", ["ts"], "video/mp2t", head: packets(of: 188)) { isPacketed($0, 188, from: 0) }
  /// A transport stream of cameras and discs. Each packet has four additional bytes with its time.
  public static let m2ts = film("m2ts", otherNames: ["mts"], ["m2ts", "mts"], "video/mp2t", head: packets(of: 192)) {
    isPacketed($0, 192, from: 4)
  }
  public static let rm = film("rm", ["rm", "rmvb"], "application/vnd.rn-realmedia", head: Array(".RMF".utf8))
  public static let swf = film("swf", ["swf"], "application/vnd.adobe.flash.movie", head: Array("FWS".utf8)) {
    $0.has("FWS", at: 0) || $0.has("CWS", at: 0)
  }
  public static let mxf = film("mxf", ["mxf"], "application/mxf", head: [6, 0x0e, 0x2b, 0x34, 2, 5, 1, 1, 0x0d, 1, 2])
  /// Ogg that contains a film.
  public static let ogv = film("ogv", ["ogv"], "video/ogg", head: Array("OggS".utf8)) {
    $0.has("OggS", at: 0) && $0.has("theora", at: 29)
  }

  /// DV from tapes, without a container.
  public static let dv = film("dv", ["dv", "dif"], "video/dv", head: [])

  /// All containers of film.
  public static let films: [Format] = [
    .m4v, .mov, .threeGP, .threeG2, .f4v, .mp4, .webm, .mkv, .avi, .amv, .flv, .wmv, .asf, .vob, .mpeg, .m2ts, .ts,
    .rm, .swf, .mxf, .ogv, .dv,
  ]

  /// Containers that browsers do not play.
  static let unplayedFilms: [Format] = [
    .mkv, .avi, .amv, .flv, .wmv, .asf, .vob, .mpeg, .m2ts, .rm, .swf, .mxf, .threeGP, .threeG2, .f4v, .ogv,
  ]

  private static let matroskaHead: [UInt8] = [0x1a, 0x45, 0xdf, 0xa3]
  private static let asfHead: [UInt8] = [0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11]

  private static func film(
    _ name: String, otherNames: [String] = [], _ extensions: [FileExtension], _ type: String, head: [UInt8],
    _ signature: (@Sendable (ArraySlice<UInt8>) -> Bool)? = nil
  ) -> Format {
    Format(
      name, otherNames: otherNames, extensions: extensions, mimeType: type, family: .film, head: head,
      signature: signature)
  }

  /// The major brand of an ISO base media file.
  private static func brand(of head: ArraySlice<UInt8>) -> String? {
    head.has("ftyp", at: 4) ? String(decoding: head.dropFirst(8).prefix(4), as: UTF8.self) : nil
  }

  private static func isBranded(_ head: ArraySlice<UInt8>, besides others: Set<String>) -> Bool {
    brand(of: head).map { !others.contains($0) } ?? false
  }

  /// Returns whether the major brand is one of films, not of still images.
  private static func isFilmBrand(_ head: ArraySlice<UInt8>) -> Bool {
    guard let brand = brand(of: head) else { return false }
    return ["iso", "mp4", "avc", "dash", "MSNV", "mmp4", "NDS", "CAEP", "hvc", "cmf", "msdh", "av01"].contains {
      brand.hasPrefix($0)
    }
  }

  private static func isPacketed(_ head: ArraySlice<UInt8>, _ size: Int, from lead: Int) -> Bool {
    let bytes = Array(head.prefix(lead + 4 * size))
    return bytes.count > lead + 3 * size && (0..<4).allSatisfy { bytes[lead + $0 * size] == 0x47 }
  }

  private static func packets(of size: Int) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: 4 * size)
    for packet in 0..<4 { head[size - 188 + packet * size] = 0x47 }
    return head
  }
}
