internal import Bytes

/// Formats of films, in the order in which they are recognized.
extension Format {
  public static let m4v = Format(
    "m4v", extensions: ["m4v"], mimeType: "video/x-m4v", family: .film
  ) { $0.has("ftypM4V", at: 4) }
  public static let threeGP = Format(
    "3gp", extensions: ["3gp", "3gpp"], mimeType: "video/3gpp", family: .film
  ) { $0.has("ftyp3gp", at: 4) }
  public static let threeG2 = Format(
    "3g2", extensions: ["3g2", "3gpp2"], mimeType: "video/3gpp2", family: .film
  ) { $0.has("ftyp3g2", at: 4) }
  public static let mov = Format(
    "mov", extensions: ["mov", "qt"], mimeType: "video/quicktime", family: .film,
    head: Array("\0\0\0\u{14}ftypqt  ".utf8)
  ) { $0.has("ftypqt", at: 4) || $0.has("moov", at: 4) }
  public static let f4v = Format(
    "f4v", extensions: ["f4v"], mimeType: "video/x-f4v", family: .film
  ) { $0.has("ftypf4v", at: 4) }
  public static let mp4 = Format(
    "mp4", extensions: ["mp4"], mimeType: "video/mp4", family: .film, head: Array("\0\0\0\u{1c}ftypisom".utf8)
  ) { head in
    ["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "dash", "MSNV"].contains { brand in
      head.has("ftyp", at: 4) && head.dropFirst(8).starts(with: brand.utf8)
    }
  }
  public static let webm = Format(
    "webm", extensions: ["webm"], mimeType: "video/webm", otherMimeTypes: ["audio/webm"], family: .film
  ) { $0.isMatroska && $0.prefix(64).contains(run: "webm") }
  public static let mkv = Format(
    "mkv", extensions: ["mkv"], mimeType: "video/x-matroska", family: .film, head: [0x1a, 0x45, 0xdf, 0xa3]
  ) { $0.isMatroska }
  /// AVI as small players want it: starts as AVI does.
  public static let amv = Format("amv", extensions: ["amv"], mimeType: "video/x-amv", family: .film) {
    $0.has("RIFF", at: 0) && $0.has("AMV ", at: 8)
  }
  public static let avi = Format(
    "avi", extensions: ["avi", "divx"], mimeType: "video/x-msvideo", otherMimeTypes: ["video/avi"], family: .film,
    head: Array("RIFF\0\0\0\0AVI ".utf8)
  ) { $0.has("RIFF", at: 0) && $0.has("AVI ", at: 8) }
  public static let mpeg = Format(
    "mpeg", otherNames: ["mpg"], extensions: ["mpg", "mpeg", "m1v", "m2v", "mpe"], mimeType: "video/mpeg",
    family: .film,
    head: [0, 0, 1, 0xb3]
  ) { $0.starts(with: [0, 0, 1, 0xb3]) || $0.starts(with: [0, 0, 1, 0xba]) }
  /// A DVD's; starts as MPEG does.
  public static let vob = Format("vob", extensions: ["vob"], mimeType: "video/x-ms-vob", family: .film)
  public static let ts = Format(
    "ts", extensions: ["ts", "m2ts", "mts"], mimeType: "video/mp2t", family: .film
  ) { head in
    let bytes = Array(head.prefix(377))
    return [188, 192].contains { step in
      let start = step - 188
      return bytes.count > start + step && bytes[start] == 0x47 && bytes[start + step] == 0x47
    }
  }
  public static let wmv = Format("wmv", extensions: ["wmv"], mimeType: "video/x-ms-wmv", family: .film)
  public static let asf = Format(
    "asf", extensions: ["asf"], mimeType: "video/x-ms-asf", otherMimeTypes: ["application/vnd.ms-asf"], family: .film,
    head: [0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11])
  public static let flv = Format(
    "flv", extensions: ["flv"], mimeType: "video/x-flv", family: .film, head: Array("FLV\u{1}".utf8))
  public static let rm = Format(
    "rm", extensions: ["rm", "rmvb"], mimeType: "application/vnd.rn-realmedia", family: .film, head: Array(".RMF".utf8))
  public static let swf = Format(
    "swf", extensions: ["swf"], mimeType: "application/vnd.adobe.flash.movie", family: .film, head: Array("FWS".utf8)
  ) { $0.has("FWS", at: 0) || $0.has("CWS", at: 0) }
  public static let mxf = Format(
    "mxf", extensions: ["mxf"], mimeType: "application/mxf", family: .film,
    head: [0x06, 0x0e, 0x2b, 0x34, 0x02, 0x05, 0x01, 0x01])
  public static let ogv = Format(
    "ogv", extensions: ["ogv"], mimeType: "video/ogg", otherMimeTypes: ["video/x-theora+ogg"], family: .film
  ) { $0.isOgg && $0.has("theora", at: 29) }
  public static let dv = Format("dv", extensions: ["dv", "dif"], mimeType: "video/dv", family: .film)

  /// All films.
  public static let films: [Format] = [
    .m4v, .threeGP, .threeG2, .mov, .f4v, .mp4, .webm, .mkv, .amv, .avi, .mpeg, .vob, .ts, .wmv, .asf, .flv, .rm, .swf,
    .mxf, .ogv, .dv,
  ]
}

extension ArraySlice<UInt8> {
  fileprivate var isMatroska: Bool { starts(with: [0x1a, 0x45, 0xdf, 0xa3]) }
}
