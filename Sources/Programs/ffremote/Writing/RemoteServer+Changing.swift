import Assembly
import Bytes
import Glibc
import ServerAnswers
import Text
import Threads
import Tree

/// The requests of WebDAV that change the server's tree. All block.
///
/// A request is repeated if the connection is lost. It may have succeeded before, so the second answer is not taken for
/// a failure if its cause may be the first one.
extension RemoteServer {
  private static func target(_ path: [UInt8]) -> String { "/dav" + Percent.encoded(path, keepingSlash: true) }

  private func answer(_ exchange: HTTPExchange, isRepeated: Bool = true) throws(Fault) -> RepeatedRequest.Answer {
    let fetch = SharedFetch<RepeatedRequest.Answer>()
    let call = RepeatedRequest(self, exchange, limit: 64 << 10, takesStart: true, isRepeated: isRepeated) {
      fetch.finish($0)
    }
    fetch.whenAbandoned { call.cancel() }
    call.start()
    return try fetch.value(.blocking)
  }

  private func exchange(_ method: String, _ path: [UInt8], _ headers: [String] = []) -> HTTPExchange {
    var exchange = HTTPExchange(Self.target(path), headers: headers)
    exchange.method = method
    return exchange
  }

  /// Returns the fault for a refused change. `conflict` is the errno of a conflict with the state of the tree.
  private func refusal(_ answer: RepeatedRequest.Answer, conflict: Int32) -> Fault {
    let said = ServerAnswer.sentence(answer.body) ?? "no reason given"
    switch answer.head.status {
    case 405, 409, 412: return Fault(.system(conflict), "the server \(address.text) refuses the change: \(said)")
    case 413: return Fault(.system(EFBIG), "the server \(address.text) takes no file of this size: \(said)")
    case 414: return Fault(.system(ENAMETOOLONG))
    case 423: return Fault(.system(EBUSY), "another client of the server \(address.text) has locked it")
    default: return fault(answer)
    }
  }

  /// Throws a refusal unless clients may change the tree.
  func checkWriting() throws {
    do throws(Fault) {
      let answer = try answer(exchange("OPTIONS", [UInt8(ascii: "/")]))
      if answer.head.allow.contains("PUT") { return }
      throw answer.head.status < 400
        ? Fault(.system(EROFS), "the server permits no changes (start it with -o rw, or leave rw out)") : fault(answer)
    } catch { throw Refusal(.sourceMissing, "cannot mount \(address.text) with -o rw: \(error)") }
  }

  /// Sends all bytes of a file. Returns the entity tag of the new version.
  ///
  /// - Parameter tag: the entity tag of the version that is replaced. Nil if the file does not exist. Throws ESTALE if
  ///   the file on the server is another one.
  func put(
    _ path: [UInt8], _ upload: HTTPExchange.Upload, over tag: String?, modified: Timestamp?, isExecutable: Bool = false,
    isReservation: Bool = false
  ) throws(Fault) -> String? {
    var headers =
      [tag.map { "If-Match: \($0)" } ?? "If-None-Match: *"] + (modified.map { ["X-OC-Mtime: \($0.decimal)"] } ?? [])
    // The bytes follow, so that the server need not wait for its disk.
    if isReservation { headers.append("Upload-Complete: ?0") }
    let answer: RepeatedRequest.Answer
    if upload.size < Self.resumableSize {
      var exchange = exchange("PUT", path, headers)
      exchange.upload = upload
      answer = try self.answer(exchange)
    } else {
      answer = try resumed(upload, to: path, replacing: tag != nil, headers)
    }
    let isStored = [201, 204].contains(answer.head.status)
    noteChange(of: path, now: isStored ? modified.map { Self.item(upload.size, $0, isExecutable) } : nil)
    switch answer.head.status {
    case 201, 204: return answer.head.tag
    case 412, 404:
      // The first request may have arrived.
      if answer.isRepetition, let tag = try present(path, asIn: upload) { return tag }
      let change = tag == nil ? "created by another client" : "changed by another client since it was opened"
      throw Fault(
        .system(ESTALE), "the file on the server has been \(change), and is left as it is (save under another name)")
    case 405: throw .isFolder
    default: throw refusal(answer, conflict: ESTALE)
    }
  }

  /// Returns a file as an entry without a name.
  private static func item(_ size: Int64, _ modified: Timestamp, _ isExecutable: Bool) -> ServerItem {
    var item = ServerItem()
    (item.size, item.modified, item.isExecutable) = (.exact(size), modified.inMilliseconds, isExecutable)
    return item
  }

  /// The minimum size of a file that continues where a lost connection left off, in bytes. It takes two requests more.
  private static let resumableSize: Int64 = 16 << 20
  /// The maximum number of consecutive connections that are lost without progress.
  private static let mostFruitless = 20
  private static let tus = "Tus-Resumable: 1.0.0"

  /// Sends a file by the server's uploads (tus 1.0). Returns the response to the last part. `headers` are those of a PUT.
  private func resumed(
    _ upload: HTTPExchange.Upload, to path: [UInt8], replacing: Bool, _ headers: [String]
  ) throws(Fault) -> RepeatedRequest.Answer {
    let query = "?path=\(Percent.encoded(path, keepingSlash: true))" + (replacing ? "&replace=1" : "")
    var exchange = HTTPExchange("/api/uploads" + query, headers: [Self.tus, "Upload-Length: \(upload.size)"])
    exchange.method = "POST"
    let created = try answer(exchange)
    guard created.head.status == 201 else { return created }
    // The path of a proxy may precede it.
    guard let number = created.head.location?.prefix(while: { $0 != "?" }).split(separator: "/").last else {
      throw Fault(.system(EIO), "the server \(address.text) does not say where the upload is")
    }
    exchange.target = "/api/uploads/\(number)" + query
    do throws(Fault) {
      let last = try sendParts(of: upload, exchange, headers)
      if last.head.status != 204, last.head.status != 404 { removeUpload(exchange) }
      return last
    } catch {
      removeUpload(exchange)
      throw error
    }
  }

  private func sendParts(
    of upload: HTTPExchange.Upload, _ exchange: HTTPExchange, _ headers: [String]
  ) throws(Fault) -> RepeatedRequest.Answer {
    var part = upload
    var fruitless = 0
    while true {
      var patch = exchange
      patch.method = "PATCH"
      patch.headers =
        [Self.tus, "Content-Type: application/offset+octet-stream", "Upload-Offset: \(part.start)"] + headers
      patch.upload = part
      let fault: Fault
      do throws(Fault) {
        let answer = try answer(patch, isRepeated: false)
        if answer.head.status == 204, answer.head.uploadOffset != upload.size {
          fault = Fault(.system(EIO), "the server \(address.text) has not stored all bytes of the file")
        } else {
          // Another request for this upload, whose connection was lost, may not have ended, or may have stored more.
          guard [409, 423].contains(answer.head.status), fruitless > 0 else { return answer }
          fault = refusal(answer, conflict: ESTALE)
        }
      } catch { fault = error }
      guard fault.kind != .interrupted, fruitless < Self.mostFruitless else { throw fault }
      var state = exchange
      (state.method, state.headers) = ("HEAD", [Self.tus])
      var answer = try answer(state)
      guard answer.head.status == 200, let offset = answer.head.uploadOffset, offset <= upload.size else {
        // Without the upload, the file may have been complete.
        answer.isRepetition = true
        return answer
      }
      fruitless = offset > part.start ? 1 : fruitless + 1
      part.start = offset
      if offset == upload.size || fault.kind == .system(EBUSY) { _ = usleep(100_000) }
    }
  }

  /// Removes an upload that will not be continued. Does not wait.
  private func removeUpload(_ exchange: HTTPExchange) {
    var exchange = exchange
    (exchange.method, exchange.headers) = ("DELETE", [Self.tus])
    let call = RepeatedRequest(self, exchange, limit: 64 << 10, takesStart: true) { _ in }
    call.start()
  }

  /// Returns the entity tag of a file if its bytes are those of an upload. Otherwise returns `nil`.
  private func present(_ path: [UInt8], asIn upload: HTTPExchange.Upload) throws(Fault) -> String? {
    let record = FileRecord.of(path, self)
    record.doubt()
    let opened = try record.open(.blocking)
    guard opened.size == upload.size else { return nil }
    let bytes = RemoteBytes(record, opened)
    var place: Int64 = 0
    while place < opened.size {
      let part = try bytes.bytes(at: place, count: Int(min(1 << 20, opened.size - place)))
      guard try upload.bytes(at: place, count: part.count) == part else { return nil }
      place += Int64(part.count)
    }
    return opened.tag
  }

  /// Creates an empty file. Returns its entity tag. Throws EEXIST if the name exists.
  func create(_ path: [UInt8], _ upload: HTTPExchange.Upload) throws(Fault) -> String? {
    do throws(Fault) { return try put(path, upload, over: nil, modified: nil, isReservation: true) } catch {
      throw error.kind == .system(ESTALE) ? Fault(.system(EEXIST)) : error
    }
  }

  func makeFolder(_ path: [UInt8]) throws(Fault) {
    let answer = try answer(exchange("MKCOL", path))
    noteChange(of: path)
    switch answer.head.status {
    case 200, 201, 204: return
    case 405: if !answer.isRepetition { throw Fault(.system(EEXIST)) }
    case 409: throw Fault(.system(ENOENT))
    default: throw refusal(answer, conflict: EEXIST)
    }
  }

  /// Removes a file or an empty directory.
  ///
  /// - Parameter tag: the required entity tag. Nil for any.
  func remove(_ path: [UInt8], ifTagged tag: String? = nil) throws(Fault) {
    let answer = try answer(exchange("DELETE", path, ["Depth: 0"] + (tag.map { ["If-Match: \($0)"] } ?? [])))
    noteChange(of: path)
    if [200, 204].contains(answer.head.status) || answer.head.status == 404 && answer.isRepetition { return }
    throw refusal(answer, conflict: ENOTEMPTY)
  }

  /// Renames a file or directory. Returns the entity tag of a file. Throws EEXIST if the new name exists, unless
  /// `replacing`, and if it is that of an item that rename(2) would not replace.
  ///
  /// - Parameter item: the file. Nil for a directory.
  func move(
    _ path: [UInt8], to newPath: [UInt8], _ item: ServerItem?, replacing: Bool
  ) throws(Fault) -> String? {
    let base = address.folderPath.dropLast()
    let destination = String(decoding: base, as: UTF8.self) + Self.target(newPath)
    // Without the depth, the server would remove a directory of the new name with its contents.
    let headers = ["Destination: \(destination)", "Overwrite: \(replacing ? "T" : "F")", "Depth: 0"]
    let answer = try answer(exchange("MOVE", path, headers))
    let isMoved = [200, 201, 204].contains(answer.head.status)
    noteChange(of: path)
    noteChange(of: newPath, now: isMoved ? item : nil)
    if isMoved || answer.head.status == 404 && answer.isRepetition { return answer.head.tag }
    throw refusal(answer, conflict: answer.head.status == 409 ? ENOENT : EEXIST)
  }

  /// Sets a modification time. Returns the entity tag of a file, which depends on it.
  ///
  /// - Parameter item: the item before. Nil if it is not known.
  func setModified(
    _ time: Timestamp, of path: [UInt8], _ item: ServerItem?, ifTagged tag: String?
  ) throws(Fault) -> String? {
    var now = item
    now?.modified = time.inMilliseconds
    return try set("modified", to: time.decimal, of: path, now, ifTagged: tag)
  }

  /// Sets whether a file can be executed. Returns its entity tag, which depends on it.
  ///
  /// - Parameter item: the item before. Nil if it is not known.
  func setExecutable(
    _ isExecutable: Bool, of path: [UInt8], _ item: ServerItem?, ifTagged tag: String?
  ) throws(Fault) -> String? {
    var now = item
    now?.isExecutable = isExecutable
    return try set("executable", to: isExecutable ? "T" : "F", of: path, now, ifTagged: tag)
  }

  /// Sets a property.
  ///
  /// - Parameter item: the item afterwards. Nil if it is not known.
  private func set(
    _ name: String, to value: String, of path: [UInt8], _ item: ServerItem?, ifTagged tag: String?
  ) throws(Fault) -> String? {
    var exchange = exchange("PROPPATCH", path, tag.map { ["If-Match: \($0)"] } ?? [])
    exchange.content =
      "<?xml version=\"1.0\"?><D:propertyupdate xmlns:D=\"DAV:\"><D:set><D:prop>"
      + "<\(name) xmlns=\"urn:ffmount\">\(value)</\(name)></D:prop></D:set></D:propertyupdate>"
    exchange.headers.append("Content-Type: application/xml")
    let answer = try answer(exchange)
    let isSet = answer.head.status == 207 && String(decoding: answer.body, as: UTF8.self).contains(" 200 OK")
    noteChange(of: path, now: isSet ? item : nil)
    guard answer.head.status == 207 else { throw refusal(answer, conflict: ESTALE) }
    guard isSet else {
      throw Fault(.system(EPERM), "the server \(address.text) does not set the property \(name) of the file")
    }
    return answer.head.tag
  }

  /// Invalidates what is known of an entry and its directory.
  ///
  /// - Parameter item: the entry after the change. Nil if its attributes are not known.
  private func noteChange(of path: [UInt8], now item: ServerItem? = nil) {
    files[path]?.doubt()
    changes?.note(path, now: item)
  }
}
