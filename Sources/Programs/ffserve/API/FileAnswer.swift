import Bytes
import Files
import NIOHTTP1
import Text
import Tree

/// The response with a file's bytes, or the requested part of them, for the API and WebDAV.
struct FileAnswer: Sendable {
  private let visitor: Visitor
  private let request: HTTPRequest

  init(_ visitor: Visitor, _ request: HTTPRequest) {
    self.visitor = visitor
    self.request = request
  }

  /// The maximum size of a file that is sent from memory, in bytes.
  private static let small: Int64 = 64 << 10

  /// - Parameter isDownload: whether a browser saves the file. If nil, the browser decides by its type.
  func response(_ path: TreePath, isDownload: Bool?) throws(Fault) -> Response {
    try response(visitor.place(path), path, isDownload: isDownload)
  }

  /// Returns the response for a file that has already been looked up.
  func response(_ place: ResolvedPath, _ path: TreePath, isDownload: Bool?) throws(Fault) -> Response {
    guard place.attributes.kind != .folder else {
      return .problem(.badRequest, "it is a folder (ask /api/list or /api/zip)", instance: path.encoded)
    }
    guard place.attributes.kind == .file else { throw .notOpened }
    var attributes = place.attributes
    let name = path.names.last ?? FileName("file")
    if request.method == .HEAD, attributes.isPreliminary {
      // A file is not made only to determine its size.
      return Response(.ok, headers: headers(name, attributes, tag: nil, isDownload), .unknown)
    }
    let file = try place.open(.blocking)
    attributes = if let known = file.attributes { known } else { try place.attributes(.blocking) }
    let tag = try place.entityTag(attributes)
    let headers = headers(name, attributes, tag: tag, isDownload)
    if isDownload != true, let type = MediaType.of(name), MediaType.isActive(type), ShownPage.isAsked(by: request) {
      return try ShownPage.response(file, type: type, request, headers)
    }
    let conditions = Conditions(request)
    let modified = attributes.modified.seconds
    guard conditions.requiredStateHolds(tag: tag, modified: modified) else {
      return .problem(.preconditionFailed, "the file is not in the required state", instance: path.encoded)
    }
    if conditions.hasState(tag: tag, modified: modified) { return Response(.notModified, headers: headers) }
    let source = file.source
    if request.method == .GET, request.header("range") != nil, !source.hasKnownSize { try source.findSize(.blocking) }
    guard source.hasKnownSize else { return Response(.ok, headers: headers, .stream(TreeBody(file, nil))) }
    switch ByteRanges(range(tag, attributes), size: source.size) {
    case .whole:
      return Response(.ok, headers: headers, try body(file, source, 0..<source.size))
    case .part(let range):
      return Response(
        .partialContent,
        headers: headers + [("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(source.size)")],
        try body(file, source, range))
    case .unsatisfiable:
      // An empty file has no other answer to clients that request its beginning, which need its version.
      return .problem(
        .rangeNotSatisfiable, instance: path.encoded,
        headers: [
          ("Content-Range", "bytes */\(source.size)"), ("Last-Modified", HTTPDate.text(attributes.modified)),
          ("ETag", tag),
        ])
    }
  }

  private func body(
    _ file: Tree.OpenFile, _ source: any ByteSource, _ range: Range<Int64>
  ) throws(Fault) -> Response.Body {
    let count = range.upperBound - range.lowerBound
    if count == 0 || request.method == .HEAD { return count == 0 ? .none : .stream(TreeBody(file, range)) }
    if count <= Self.small {
      return .bytes(
        try file.reading(.blocking) { (source) throws(Fault) in
          try source.bytes(at: range.lowerBound, count: Int(count))
        })
    }
    if !request.isTLS, let real = source as? FileSource, !real.isDistant,
      let extent = real.extent(at: range.lowerBound, count: Int(count)), Int64(extent.count) == count
    {
      let shared = try extent.holder.withDescriptor { (descriptor) throws(Fault) in
        try SharedFile(copying: descriptor)
      }
      return .file(shared, offset: extent.offset, count: count)
    }
    return .stream(TreeBody(file, range))
  }

  // MARK: Headers

  private func headers(
    _ name: FileName, _ attributes: Attributes, tag: String?, _ isDownload: Bool?
  ) -> [(name: String, value: String)] {
    let type = MediaType.header(name)
    let isActive = MediaType.isActive(String(type.prefix { $0 != ";" }))
    var headers: [(name: String, value: String)] = [
      ("Content-Type", type), ("Accept-Ranges", "bytes"), ("Cache-Control", "private, no-cache"),
      ("Last-Modified", HTTPDate.text(attributes.modified)),
      ("Content-Disposition", Self.disposition(name, isAttachment: isDownload ?? false)),
    ]
    if let tag { headers.append(("ETag", tag)) }
    // A file's content never acts with the server's origin. PDFs contain no scripts of this server, and browsers do not
    // show them in a sandbox.
    if isActive {
      headers += [("Content-Security-Policy", Self.policyForActive), ("X-DNS-Prefetch-Control", "off")]
    } else if type != "application/pdf" {
      headers.append(("Content-Security-Policy", Self.policyForOthers))
    } else {
      headers.append(("Content-Security-Policy", "frame-ancestors 'self'"))
    }
    return headers
  }

  /// The policy for a page from the tree: no scripts, no forms, nothing from elsewhere. It keeps its origin, so that
  /// its images are requested with the user's cookie.
  private static let policyForActive =
    "sandbox allow-same-origin; default-src 'none'; img-src 'self' data:; media-src 'self'; "
    + "style-src 'self' 'unsafe-inline'; font-src 'self' data:; base-uri 'none'; form-action 'none'; "
    + "frame-ancestors 'self'"

  /// The policy for other files, which browsers may show in pages of their own, such as pictures and films.
  private static let policyForOthers =
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; frame-ancestors 'self'"

  /// Returns a Content-Disposition header (RFC 6266), with an ASCII name for old programs. No character of a name can
  /// end the header.
  static func disposition(_ name: FileName, isAttachment: Bool) -> String {
    let plain = String(
      decoding: name.bytes.map { byte in
        byte < 0x20 || byte >= 0x7f || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
          || byte == UInt8(ascii: "%") ? UInt8(ascii: "_") : byte
      }, as: UTF8.self)
    return "\(isAttachment ? "attachment" : "inline"); filename=\"\(plain)\"; filename*=UTF-8''"
      + Percent.encoded(name.bytes)
  }

  /// Returns the Range header, unless the If-Range condition fails.
  private func range(_ tag: String, _ attributes: Attributes) -> String? {
    // Only GET has ranges (RFC 9110, section 14.2).
    guard request.method == .GET, let range = request.header("range") else { return nil }
    guard let condition = request.header("if-range") else {
      return request.headers.contains(name: "if-range") ? nil : range
    }
    if condition.hasPrefix("\"") { return condition == tag ? range : nil }
    // A recent date may also be that of other bytes (RFC 9110, section 13.1.5).
    let modified = attributes.modified.seconds
    return HTTPDate.seconds(condition) == modified && HTTPDate.now.seconds > modified + 1 ? range : nil
  }
}
