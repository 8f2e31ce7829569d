internal import CGExiv2
internal import Catalogue
internal import Pixels
internal import WorkerKit

/// Reads the tags of a picture: EXIF, XMP and IPTC by gexiv2, and the texts of a PNG.
enum PictureTags {
  /// Loads the library. Call once, before the sandbox is closed.
  static func start() -> Bool {
    gexiv2_log_set_level(GEXIV2_LOG_LEVEL_MUTE)
    return gexiv2_initialize() != 0
  }

  /// The names in lists, with the tags that they are read from. Values that occur in several are listed once.
  private static let names: [(name: String, tags: [String])] = [
    ("title", ["Xmp.dc.title", "Iptc.Application2.ObjectName", "Exif.Image.XPTitle"]),
    ("headline", ["Xmp.photoshop.Headline", "Iptc.Application2.Headline"]),
    (
      "description",
      [
        "Xmp.dc.description", "Iptc.Application2.Caption", "Exif.Image.ImageDescription", userComment,
        "Exif.Image.XPComment", "Exif.Image.XPSubject", "Xmp.acdsee.notes", "Xmp.exif.UserComment",
      ]
    ),
    (
      "keywords",
      [
        "Xmp.dc.subject", "Iptc.Application2.Keywords", "Exif.Image.XPKeywords", "Xmp.lr.hierarchicalSubject",
        "Xmp.digiKam.TagsList", "Xmp.MicrosoftPhoto.LastKeywordXMP",
      ]
    ),
    ("people", ["Xmp.iptcExt.PersonInImage", "Xmp.MP.RegionInfo/MPRI:Regions"]),
    (
      "place",
      [
        "Xmp.iptc.Location", "Iptc.Application2.SubLocation", "Xmp.photoshop.City", "Iptc.Application2.City",
        "Xmp.photoshop.State", "Iptc.Application2.ProvinceState", "Xmp.photoshop.Country",
        "Iptc.Application2.CountryName", "Exif.GPSInfo.GPSAreaInformation",
      ]
    ),
    (
      "author",
      [
        "Xmp.dc.creator", "Iptc.Application2.Byline", "Exif.Image.Artist", "Exif.Image.XPAuthor",
        "Exif.Photo.CameraOwnerName",
      ]
    ),
    ("copyright", ["Xmp.dc.rights", "Iptc.Application2.Copyright", "Exif.Image.Copyright"]),
    ("event", ["Xmp.iptcExt.Event"]), ("language", ["Xmp.dc.language", "Iptc.Application2.Language"]),
    ("camera", ["Exif.Image.Make", "Exif.Image.Model"]), ("lens", ["Exif.Photo.LensModel", "Xmp.aux.Lens"]),
    ("software", ["Exif.Image.Software"]),
  ]
  /// The tags with the time at which a picture was taken, the best first.
  private static let dates = [
    "Exif.Photo.DateTimeOriginal", "Xmp.exif.DateTimeOriginal", "Xmp.photoshop.DateCreated",
    "Iptc.Application2.DateCreated", "Exif.Photo.DateTimeDigitized", "Xmp.xmp.CreateDate", "Exif.Image.DateTime",
  ]

  /// Returns the tags. None if the format of the picture has none.
  static func tags(of input: JobInput) throws(JobFailure) -> TagList {
    var list = TagList()
    try addMetadata(of: input, to: &list)
    addTexts(of: input, to: &list)
    return list
  }

  /// The names in lists of texts in a PNG (ISO/IEC 15948, 11.3.4.2). Others have their own, in lower case.
  private static let textNames: [String: String] = ["Comment": "description", "Creation Time": "date"]

  /// Adds the texts of a PNG, which programs write without EXIF.
  private static func addTexts(of input: JobInput, to list: inout TagList) {
    guard input.starts(with: PNGChunks.signature) else { return }
    func read(_ place: Int, _ count: Int) -> [UInt8] { input.read(count, at: place) }
    PNGChunks.places(size: input.count, read) { name, place in
      guard ["tEXt", "zTXt", "iTXt"].contains(name), place.count <= PNGText.largest,
        let found = PNGText(name, read(place.lowerBound + 8, place.count - 12)), !isData(found.keyword)
      else { return }
      list.add(textNames[found.keyword] ?? found.keyword.lowercased(), text(found.bytes))
    }
  }

  /// Returns whether a text is data for programs: profiles, XMP, and the properties that ImageMagick adds.
  private static func isData(_ keyword: String) -> Bool {
    keyword.contains(":") || keyword.hasPrefix("Raw profile type ")
  }

  private static func addMetadata(of input: JobInput, to list: inout TagList) throws(JobFailure) {
    guard let metadata = unsafe gexiv2_metadata_new() else { throw .noMemory() }
    defer { unsafe g_object_unref(metadata) }
    let opened = unsafe input.bytes.withMemoryRebound(to: UInt8.self) { bytes in
      unsafe gexiv2_metadata_open_buf(metadata, bytes.baseAddress, bytes.count, nil)
    }
    guard opened != 0 else { return }
    for (name, tags) in names {
      for tag in tags { for value in unsafe values(tag, of: metadata) { list.add(name, value) } }
    }
    if let date = dates.lazy.flatMap({ unsafe values($0, of: metadata) }).first(where: { $0.first?.isNumber ?? false })
    {
      list.add("date", spelled(date))
    }
    var (latitude, longitude) = (0.0, 0.0)
    if unsafe gexiv2_metadata_try_get_gps_latitude(metadata, &latitude, nil) != 0,
      unsafe gexiv2_metadata_try_get_gps_longitude(metadata, &longitude, nil) != 0, latitude != 0 || longitude != 0
    {
      list.add("position", "\(rounded(latitude)) \(rounded(longitude))")
    }
    if let comment = unsafe gexiv2_metadata_try_get_comment(metadata, nil) {
      list.add("description", unsafe text(comment))
      unsafe g_free(comment)
    }
  }

  private static let userComment = "Exif.Photo.UserComment"

  /// Returns the comment in EXIF, which starts with the name of its encoding (EXIF 2.3, section 4.6.5). Programs write it
  /// as bytes of different types, and UTF-16 in either byte order.
  private static func comment(of metadata: UnsafeMutablePointer<GExiv2Metadata>) -> String? {
    guard let raw = unsafe gexiv2_metadata_try_get_tag_raw(metadata, userComment, nil) else { return nil }
    defer { unsafe g_bytes_unref(raw) }
    var size: gsize = 0
    guard let start = unsafe g_bytes_get_data(raw, &size), size > 8 else { return nil }
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: start, count: min(Int(size), 1 << 16)))
    let text = bytes[8...]
    guard bytes.starts(with: "UNICODE\0".utf8) else {
      return String(validating: text.prefix { $0 != 0 }, as: UTF8.self)
    }
    // Most characters are below 256.
    let isBigEndian = stride(from: 8, to: bytes.count, by: 2).count { bytes[$0] == 0 } * 4 > text.count
    let units = stride(from: 8, to: bytes.count - 1, by: 2).map { place in
      let (one, other) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
      return isBigEndian ? one << 8 | other : other << 8 | one
    }
    return String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
  }

  /// The maximum number of values of a tag.
  private static let most = 1000

  private static func values(_ tag: String, of metadata: UnsafeMutablePointer<GExiv2Metadata>) -> [String] {
    guard unsafe gexiv2_metadata_try_has_tag(metadata, tag, nil) != 0 else { return [] }
    if tag == userComment { return unsafe comment(of: metadata).map { [$0] } ?? [] }
    if tag.hasPrefix("Exif.") {
      guard let value = unsafe gexiv2_metadata_try_get_tag_interpreted_string(metadata, tag, nil) else { return [] }
      defer { unsafe g_free(value) }
      return [unsafe text(value)]
    }
    guard let list = unsafe gexiv2_metadata_try_get_tag_multiple(metadata, tag, nil) else { return [] }
    defer { unsafe g_strfreev(list) }
    var values: [String] = []
    while values.count < most, let value = unsafe list[values.count] { values.append(plain(unsafe text(value))) }
    return values
  }

  /// Returns a value without the language before it, as in `lang="x-default" text`.
  private static func plain(_ value: String) -> String {
    guard value.hasPrefix("lang=\""), let end = value.firstRange(of: "\" ") else { return value }
    return String(value[end.upperBound...])
  }

  /// Returns bytes in UTF-8, or else in Latin-1. EXIF does not record which.
  private static func text(_ bytes: UnsafePointer<CChar>) -> String {
    unsafe text(UnsafeRawBufferPointer(start: bytes, count: strnlen(bytes, 1 << 16)))
  }

  private static func text(_ bytes: some Collection<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// Returns a date as `2019-05-03 12:34:56`, without fractions and zones.
  private static func spelled(_ date: String) -> String {
    var bytes = Array(date.utf8.prefix(19))
    for place in [4, 7] where bytes.count > place && bytes[place] == UInt8(ascii: ":") {
      bytes[place] = UInt8(ascii: "-")
    }
    if bytes.count > 10, bytes[10] == UInt8(ascii: "T") { bytes[10] = UInt8(ascii: " ") }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns degrees with five decimals, about a metre.
  private static func rounded(_ degrees: Double) -> String { "\((degrees * 100_000).rounded() / 100_000)" }
}
