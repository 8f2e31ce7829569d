import Bytes
import FileTrees
import Glibc
import Locks
import NIOCore
import NIOHTTP1
import Text
import Threads
import Tree

/// Uploads that continue after an interruption, of the server, too: tus 1.0 with the extensions creation and termination
/// (<https://tus.io/protocols/resumable-upload>), below `/api/uploads`.
///
/// The bytes are in a file of the target's folder whose name contains the upload's number and size. There is no other
/// record, so an upload is as long as the file is.
struct Uploads: Sendable {
  let visitor: Visitor

  fileprivate var site: Site { visitor.site }

  init(_ visitor: Visitor) { self.visitor = visitor }

  private static let root = "/api/uploads"
  private static let general: [(name: String, value: String)] = [
    ("Tus-Resumable", "1.0.0"), ("Cache-Control", "no-store"),
  ]
  private static let allowed = ("Allow", "OPTIONS, POST, HEAD, PATCH, DELETE")

  static func isAsked(by request: HTTPRequest) -> Bool {
    request.path == root || request.path.hasPrefix(root + "/")
  }

  func answer(_ request: HTTPRequest) -> Site.Answer {
    if request.method == .OPTIONS {
      return .now(
        Response(
          .noContent,
          headers: Self.general + [
            ("Tus-Version", "1.0.0"), ("Tus-Extension", "creation,termination"), Self.allowed,
          ]))
    }
    if let refusal = refusal(of: request) { return .now(refusal) }
    guard let path = request.query.bytes("path").flatMap({ TreePath($0) }), !path.names.isEmpty else {
      return .now(.problem(.badRequest, "the parameter path is missing, or contains . or .. or a NUL"))
    }
    let replacing = request.query.flag("replace") ?? false
    if request.path == Self.root, request.method == .POST {
      guard let size = request.header("upload-length").flatMap({ $0.first == "+" ? nil : Int64($0) }), size >= 0 else {
        return .now(.problem(.badRequest, "the Upload-Length header is missing or not a size"))
      }
      return later(path) { () throws(Fault) in try create(path, size, replacing) }
    }
    guard let number = Self.number(of: request) else { return .now(.problem(.notFound, "there is no such upload")) }
    switch request.method {
    case .HEAD: return later(path) { () throws(Fault) in try state(path, number) }
    case .DELETE: return later(path) { () throws(Fault) in try remove(path, number) }
    default: return .now(.problem(.methodNotAllowed, headers: [Self.allowed]))
    }
  }

  /// Begins to receive the bytes of a PATCH. Blocks.
  func reception(of request: HTTPRequest) throws(Fault) -> Reception {
    if let refusal = refusal(of: request) { return .refused(refusal) }
    guard let path = request.query.bytes("path").flatMap({ TreePath($0) }), !path.names.isEmpty,
      let number = Self.number(of: request)
    else { return .refused(.problem(.notFound, "there is no such upload")) }
    guard request.header("content-type") == "application/offset+octet-stream" else {
      return .refused(.problem(.unsupportedMediaType, "the type is not application/offset+octet-stream"))
    }
    guard let offset = request.header("upload-offset").flatMap({ Int64($0) }), offset >= 0 else {
      return .refused(.problem(.badRequest, "the Upload-Offset header is missing or not an offset"))
    }
    let replacing = request.query.flag("replace") ?? false
    let length = request.header("content-length").flatMap { Int64($0) } ?? 0
    do throws(Fault) {
      let target = try visitor.upload(path)
      let part = try part(target, number)
      // Nothing of a body that is too long is stored.
      guard offset != part.offset || length <= part.size - offset else {
        return .refused(.problem(.payloadTooLarge, "the body is longer than the upload", instance: path.encoded))
      }
      return try PartUpload.reception(self, path, target, part, request, at: offset, replacing: replacing)
    } catch { return .refused(.problem(error, instance: path.encoded)) }
  }

  private func refusal(of request: HTTPRequest) -> Response? {
    if let refusal = visitor.refusalToWrite { return refusal }
    guard request.header("tus-resumable") == "1.0.0" else {
      return .problem(
        .preconditionFailed, "the Tus-Resumable header is not 1.0.0", headers: [("Tus-Version", "1.0.0")])
    }
    return nil
  }

  private func later(_ path: TreePath, _ work: @escaping @Sendable () throws(Fault) -> Response) -> Site.Answer {
    .later {
      do throws(Fault) { return try work() } catch { return .problem(error, instance: path.encoded) }
    }
  }

  /// Returns the number in the path of a request, 32 hexadecimal digits.
  private static func number(of request: HTTPRequest) -> String? {
    let number = request.path.dropFirst(root.count + 1)
    return number.utf8.count == 32 && number.utf8.allSatisfy { $0.hexValue != nil } ? String(number) : nil
  }

  // MARK: Requests

  private func create(_ path: TreePath, _ size: Int64, _ replacing: Bool) throws(Fault) -> Response {
    let target = try visitor.upload(path)
    if let refusal = try hindrance(target, path, replacing: replacing) { return refusal }
    guard try site.space().available >= size else { throw Fault(.system(ENOSPC)) }
    try site.library.makeFolder(at: Array(target.names.dropLast()), intermediates: true)
    let number = Secret.random()
    let part = Part(number: number, size: size)
    try Replacement(of: target.names.dropLast() + [part.name], in: site.library, replacing: false).finish()
    let location =
      "\(visitor.base)\(Self.root)/\(number)?path=\(Percent.encoded(path.bytes))" + (replacing ? "&replace=1" : "")
    if size == 0 {
      // No byte follows that could end the upload.
      try finished(target, part, replacing: replacing).finish(inPlace: true)
      site.forgetAnswers()
    }
    return Response(.created, headers: Self.general + [("Location", location)])
  }

  private func state(_ path: TreePath, _ number: String) throws(Fault) -> Response {
    let part = try part(visitor.upload(path), number)
    return Response(
      .ok,
      headers: Self.general + [
        ("Upload-Offset", String(part.offset)), ("Upload-Length", String(part.size)),
      ])
  }

  private func remove(_ path: TreePath, _ number: String) throws(Fault) -> Response {
    let target = try visitor.upload(path)
    let part = try part(target, number)
    guard site.activeUploads.begin(number) else { return .problem(.locked, Self.isActive) }
    defer { site.activeUploads.end(number) }
    try site.library.removeItem(at: target.names.dropLast() + [part.name], recursively: false)
    return Response(.noContent, headers: Self.general)
  }

  static let isActive = "another request currently sends bytes of this upload"

  /// Returns the response to an upload that would replace something, or that a lock forbids. Otherwise returns `nil`.
  fileprivate func hindrance(
    _ target: Visitor.Target, _ path: TreePath, replacing: Bool
  ) throws(Fault) -> Response? {
    if let existing = target.item, existing.attributes.kind != .file || !replacing {
      return .problem(.conflict, "the name exists", instance: path.encoded)
    }
    let reach = LockTable.Reach(path: target.names, changesName: target.item == nil)
    return site.locks.hindrance(to: reach, tokens: [], user: visitor.account.name) == nil
      ? nil : .problem(.locked, "the file is locked by a WebDAV client", instance: path.encoded)
  }

  /// An upload's file.
  struct Part: Sendable {
    let number: String
    let size: Int64
    /// The number of bytes that have been stored.
    var offset: Int64 = 0

    var name: FileName { TemporaryName.upload(number, size: size) }
  }

  /// Returns the upload with a number. Throws ENOENT if there is none beside the path.
  private func part(_ target: Visitor.Target, _ number: String) throws(Fault) -> Part {
    let folder = try site.library.place(Array(target.names.dropLast()))
    for (name, kind) in try folder.realEntries() where kind == .file {
      guard let size = TemporaryName.size(of: name, number: number) else { continue }
      let file = try folder.child(name, .blocking)
      return Part(number: number, size: size, offset: file.attributes.size)
    }
    throw .notFound
  }

  /// Returns the file of an upload, open, which gets the name of its target.
  fileprivate func finished(_ target: Visitor.Target, _ part: Part, replacing: Bool) throws(Fault) -> Replacement {
    try Replacement(
      of: target.names, in: site.library, replacing: replacing && visitor.rights(at: target.names).contains(.change),
      resuming: part.name)
  }

  /// Returns the response to the last part of an upload whose conditions do not hold. Otherwise returns `nil`.
  fileprivate func unmetCondition(
    of request: HTTPRequest, _ existing: ResolvedPath?, _ path: TreePath
  ) throws(Fault) -> Response? {
    let tag = try existing.map { (place) throws(Fault) in try place.entityTag(place.attributes) }
    let isMet = Conditions(request).permit(tag: tag, modified: existing?.attributes.modified.seconds ?? 0)
    return isMet
      ? nil : .problem(.preconditionFailed, "the file is not in the required state", instance: path.encoded)
  }

  static func answer(offset: Int64, _ headers: [(name: String, value: String)] = []) -> Response {
    Response(.noContent, headers: general + [("Upload-Offset", String(offset))] + headers)
  }
}

/// The bytes of a PATCH, which stay if the client leaves.
private final class PartUpload: BodySink {
  private let uploads: Uploads
  private let part: Uploads.Part
  private let replacement: Replacement
  private let names: [FileName]
  private let request: HTTPRequest
  /// Returns the response to an upload whose target has been locked or created since it began. Blocks.
  private let hindrance: @Sendable () throws(Fault) -> Response?
  private nonisolated(unsafe) var offset: Int64
  private nonisolated(unsafe) var isActive = true

  private init(
    _ uploads: Uploads, _ part: Uploads.Part, _ replacement: Replacement, of names: [FileName],
    _ request: HTTPRequest, hindrance: @escaping @Sendable () throws(Fault) -> Response?
  ) {
    self.uploads = uploads
    self.part = part
    self.replacement = replacement
    self.names = names
    self.request = request
    self.hindrance = hindrance
    unsafe offset = part.offset
  }

  deinit { end() }

  static func reception(
    _ uploads: Uploads, _ path: TreePath, _ target: Visitor.Target, _ part: Uploads.Part, _ request: HTTPRequest,
    at offset: Int64, replacing: Bool
  ) throws(Fault) -> Reception {
    guard offset == part.offset else {
      return .refused(.problem(.conflict, "the upload has \(part.offset) bytes", instance: path.encoded))
    }
    if let refusal = try uploads.hindrance(target, path, replacing: replacing) { return .refused(refusal) }
    guard uploads.site.activeUploads.begin(part.number) else { return .refused(.problem(.locked, Uploads.isActive)) }
    do throws(Fault) {
      let replacement = try uploads.finished(target, part, replacing: replacing)
      return .sink(
        PartUpload(uploads, part, replacement, of: target.names, request) { () throws(Fault) in
          let now = Visitor.Target(names: target.names, item: try uploads.site.library.existing(target.names))
          if let refusal = try uploads.unmetCondition(of: request, now.item, path) { return refusal }
          return try uploads.hindrance(now, path, replacing: replacing)
        })
    } catch {
      uploads.site.activeUploads.end(part.number)
      throw error
    }
  }

  func write(_ bytes: ByteBuffer) throws(Fault) {
    guard Int64(bytes.readableBytes) <= part.size - (unsafe offset) else {
      throw Fault(.system(EFBIG), "the body is longer than the upload")
    }
    try replacement.file.write(bytes, at: unsafe offset)
    unsafe offset += Int64(bytes.readableBytes)
  }

  func finish() throws(Fault) -> Response {
    let response = try stored()
    end()
    return response
  }

  private func stored() throws(Fault) -> Response {
    guard unsafe offset == part.size else { return Uploads.answer(offset: unsafe offset) }
    let isConditional = Conditions(request).areAboutState
    if isConditional { try uploads.site.conditionalChanges.lock() }
    defer { if isConditional { uploads.site.conditionalChanges.unlock() } }
    if let refusal = try hindrance() { return refusal }
    try replacement.finish(inPlace: true)
    defer { uploads.site.forgetAnswers() }
    return Uploads.answer(offset: part.size, try uploads.site.noteUpload(of: names, by: request))
  }

  /// Stores the last bytes, too: up to a few MB, which were in buffers when the line was cut.
  func discard(_ rest: ByteBuffer) {
    if rest.readableBytes > 0 { try? write(rest) }
    end()
  }

  /// Permits other requests to continue the upload: before the response, which a client may answer at once.
  private func end() {
    guard unsafe isActive else { return }
    unsafe isActive = false
    uploads.site.activeUploads.end(part.number)
  }
}

/// The uploads whose bytes currently arrive, each from one client.
final class ActiveUploads: Sendable {
  private let numbers = UnfairLock<Set<String>>([])

  /// Returns `false` if the upload is active.
  func begin(_ number: String) -> Bool { numbers.withLock { $0.insert(number).inserted } }

  func end(_ number: String) { numbers.withLock { _ = $0.remove(number) } }
}
