import Bytes
import FileTrees
import Glibc
import NIOCore
import NIOHTTP1
import Threads
import Tree

/// The body of a PUT, which gets the name of the file when all of it is on the disk.
final class FileUpload: BodySink {
  private let dav: WebDAV
  private let path: TreePath
  private let request: HTTPRequest
  private let names: [FileName]
  private let replacement: Replacement
  private nonisolated(unsafe) var offset: Int64 = 0

  private init(
    _ dav: WebDAV, _ path: TreePath, _ request: HTTPRequest, at names: [FileName], _ replacement: Replacement
  ) {
    self.dav = dav
    self.path = path
    self.request = request
    self.names = names
    self.replacement = replacement
  }

  /// Begins to receive a file, if it may be written. Blocks.
  static func reception(_ dav: WebDAV, _ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Reception {
    if request.headers.contains(name: "content-range") {
      return .refused(.problem(.badRequest, "PUT of a part of a file is not supported"))
    }
    guard !path.names.isEmpty, !request.path.hasSuffix("/") else {
      return .refused(.problem(.methodNotAllowed, "a folder cannot be written", instance: path.encoded))
    }
    // Another client may remove the file meanwhile.
    return try FileTree.retrying { () throws(Fault) in
      let target = try dav.visitor.upload(path)
      if let refusal = try refusal(dav, path, request, target) { return .refused(refusal) }
      if let refusal = try dav.missingParent(target.names, path) { return .refused(refusal) }
      let mayReplace = dav.visitor.rights(at: target.names).contains(.change)
      let replacement = try Replacement(
        of: target.names, in: dav.site.library, replacing: mayReplace && request.header("if-none-match") != "*")
      return .sink(FileUpload(dav, path, request, at: target.names, replacement))
    }
  }

  private static func refusal(
    _ dav: WebDAV, _ path: TreePath, _ request: HTTPRequest, _ target: Visitor.Target
  ) throws(Fault) -> Response? {
    let reach = LockTable.Reach(path: target.names, changesName: target.item == nil)
    if let refusal = try dav.refusal(request, path, target.item, reach) { return refusal }
    if let existing = target.item, existing.attributes.kind != .file {
      return .problem(.methodNotAllowed, "the name is not that of a file", instance: path.encoded)
    }
    return nil
  }

  func write(_ bytes: ByteBuffer) throws(Fault) {
    try replacement.file.write(bytes, at: unsafe offset)
    unsafe offset += Int64(bytes.readableBytes)
  }

  func finish() throws(Fault) -> Response {
    defer { dav.site.forgetAnswers() }
    let isNew = replacement.old == nil
    // Only one of several clients that expect the same state succeeds.
    let isConditional = Conditions(request).areAboutState
    if isConditional { try dav.site.conditionalChanges.lock() }
    defer { if isConditional { dav.site.conditionalChanges.unlock() } }
    // Another client may have changed or locked the file since the body began.
    let refusal = try FileTree.retrying { () throws(Fault) in
      let target = Visitor.Target(names: names, item: try dav.site.library.existing(names))
      return try Self.refusal(dav, path, request, target)
    }
    if let refusal {
      replacement.discard()
      return refusal
    }
    // A client that only reserves a name sends the bytes next.
    let isReservation = unsafe isNew && offset == 0 && request.header("upload-complete") == "?0"
    do throws(Fault) { try replacement.finish(inPlace: true, syncs: !isReservation) } catch {
      guard error.kind == .system(EISDIR) else { throw error }
      return .problem(.methodNotAllowed, "a folder has the name", instance: path.encoded)
    }
    return Response(isNew ? .created : .noContent, headers: try dav.site.noteUpload(of: names, by: request))
  }

  func discard(_ rest: ByteBuffer) { replacement.discard() }
}

extension Site {
  /// Sets the time that a client has sent with a file. Returns the headers for it, and for the entity tag. Blocks.
  func noteUpload(of names: [FileName], by request: HTTPRequest) throws(Fault) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    do throws(Fault) {
      let place = try library.place(names)
      if let modified = request.header("x-oc-mtime").flatMap(HTTPDate.decimal) {
        try library.setModified(modified, of: place)
        headers.append(("X-OC-Mtime", "accepted"))
      }
      headers.append(("ETag", try place.entityTag(place.attributes(.blocking))))
    } catch {
      // Another client may have removed or replaced the file again.
      guard error.isVanishing else { throw error }
    }
    return headers
  }
}

extension Tree.OpenFile {
  /// Writes all bytes of a buffer. Blocks.
  func write(_ bytes: ByteBuffer, at offset: Int64) throws(Fault) {
    var done = 0
    var fault: Fault?
    unsafe bytes.withUnsafeReadableBytes { bytes in
      while fault == nil, done < bytes.count {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
        let (place, isBeyond) = offset.addingReportingOverflow(Int64(done))
        do throws(Fault) {
          if isBeyond { throw Fault(.system(EFBIG)) }
          done += unsafe try write(rest, at: place, for: nil)
        } catch { fault = error }
      }
    }
    if let fault { throw fault }
  }
}
