import Assembly
import Bytes
import FileTrees
import Glibc
import ServerAnswers
import Text
import Threads

/// The source of another ffmount that is elsewhere.
enum RemoteSource {
  /// The time limit for each first request, in milliseconds.
  private static let longestStart = 15_000

  /// Returns what is at an address. Returns `nil` if that is `ffmount serve`. Blocks.
  ///
  /// - Throws: a refusal if there is nothing that can be mounted.
  static func find(_ given: String, _ options: MountOptions) throws -> RemoteServer? {
    if given.hasPrefix("s3://") { return try bucket(given, options) }
    if given.hasPrefix("sftp://") { return try sftp(given, options) }
    let address = try ServerAddress(given, hasQuery: true)
    if address.isFolder {
      if try isServer(address, options) { return nil }
      return try folder(address, options)
    }
    if let file = try file(address, options) { return file }
    guard try isServer(address, options) else { throw refusal(of: address) }
    return nil
  }

  /// Returns whether `ffmount serve` answers. Throws a refusal if nothing does.
  private static func isServer(_ address: ServerAddress, _ options: MountOptions) throws -> Bool {
    guard address.query.isEmpty else { return false }
    let settings = WireSettings(base: address.text, authorities: options.server.authorities)
    let server = try RemoteServer(address, ServerInterface(), settings, options)
    defer { server.stop() }
    let answer = try ask(server, HTTPExchange("/api/stat?path=%2F"), limit: 64 << 10)
    if answer.head.status == 200 { return (try? ServerAnswer.item(answer.body, named: ""))?.kind == .folder }
    // Its problems are objects, those of other servers are pages. Nothing but WebDAV is at its other addresses.
    return answer.head.status != 404 && ServerAnswer.sentence(answer.body) != nil
  }

  /// Returns the file of an address. Returns `nil` if there is none.
  private static func file(_ address: ServerAddress, _ options: MountOptions) throws -> RemoteServer? {
    let last = address.text.split(separator: "/").last.map { Array($0.utf8) } ?? []
    let name = Percent.decoded(last).flatMap { ServerItem.isName($0) ? FileName($0) : nil } ?? "file"
    let interface = WebFile(name: name)
    let server = try webServer(address, interface, options)
    var isFound = false
    defer { if !isFound { server.stop() } }
    let answer = try ask(server, start, limit: FileRecord.headSize)
    guard answer.isSuccess else {
      // A folder of WebDAV need not be a page.
      if answer.head.status != 401, let folder = try davFolder(address, options) { return folder }
      if [404, 410].contains(answer.head.status) || answer.head.status == 401 && answer.head.type.contains("json") {
        return nil
      }
      throw Refusal(.sourceMissing, "cannot show \(address.text): \(server.fault(answer))")
    }
    if answer.head.type == "text/html" {
      if FolderPage.isListing(answer.body) { return try folder(address, options) }
      // Servers also show a folder of WebDAV by a page of their own.
      if let folder = try davFolder(address, options) { return folder }
    }
    try begin(server, with: answer, named: name)
    isFound = true
    return server
  }

  /// The request for the start of a file whose URL is that of the server.
  private static var start: HTTPExchange {
    HTTPExchange("", headers: ["Range: bytes=0-\(FileRecord.headSize - 1)"])
  }

  /// Records the start of the only file. Throws a refusal if the server does not send parts of it.
  private static func begin(
    _ server: RemoteServer, with answer: RepeatedRequest.Answer, named name: FileName
  ) throws {
    do throws(Fault) {
      let opened = try FileRecord.opened(answer, server)
      guard opened.hasParts || opened.size == Int64(opened.head.count) else {
        throw Fault(.system(EIO), "the server does not send parts of files (download the file)")
      }
      FileRecord.of(root + name.bytes, server).confirm(opened)
      var item = try WebServer.item(answer)
      item.name = name
      server.keep([item], of: root, tag: answer.head.tag, took: 0)
    } catch {
      throw Refusal(.sourceUnsuitable, "cannot show \(server.address.text): \(error)")
    }
  }

  /// Returns the object, or the folder of objects, of an address of S3.
  ///
  /// - Parameter region: that of the bucket, if the server has said it.
  private static func bucket(_ given: String, _ options: MountOptions, region: String? = nil) throws -> RemoteServer {
    let access = try S3Access(given, options.server, region: region)
    let address = ServerAddress(other: given)
    var isFound = false
    if !access.key.isEmpty, !address.isFolder, let last = access.key.split(separator: UInt8(ascii: "/")).last,
      ServerItem.isName(last)
    {
      let name = FileName(last)
      let settings = access.settings(options.server, isObject: true)
      let server = try RemoteServer(address, S3File(name: name, access: access), settings, options)
      defer { if !isFound { server.stop() } }
      let answer = try ask(server, start, limit: FileRecord.headSize)
      if region == nil, let other = access.otherRegion(answer) { return try bucket(given, options, region: other) }
      if answer.isSuccess {
        try begin(server, with: answer, named: name)
        isFound = true
        return server
      }
      // Whether an object exists is told only to those that may list the bucket.
      guard [403, 404].contains(answer.head.status) else { throw refusal(of: address, server.fault(answer)) }
    }
    let slash = UInt8(ascii: "/")
    let prefix = access.key.isEmpty || access.key.last == slash ? access.key : access.key + [slash]
    let interface = S3Folder(prefix: prefix, access: access)
    let server = try RemoteServer(address, interface, access.settings(options.server, isObject: false), options)
    defer { if !isFound { server.stop() } }
    let answer = try ask(server, interface.listing(of: root, after: nil), limit: largestPage)
    if region == nil, let other = access.otherRegion(answer) { return try bucket(given, options, region: other) }
    do throws(Fault) {
      guard answer.isSuccess else { throw server.fault(answer) }
      let page = try interface.listing(answer, of: root)
      // A folder that has only an object of its own is empty.
      guard prefix.isEmpty || page.next != nil || interface.hasEntries(answer) else { throw Fault(.system(ENOENT)) }
      if page.next == nil { server.keep(page.items, of: root, tag: nil, took: 0) }
    } catch {
      throw refusal(of: address, error)
    }
    isFound = true
    return server
  }

  /// Returns the file or folder of an address of SFTP.
  private static func sftp(_ given: String, _ options: MountOptions) throws -> RemoteServer {
    let access = try SFTPAddress(given, options.server)
    let address = ServerAddress(other: given)
    let wire = try SFTPClient(access.command, silence: options.server.wait)
    var isFound = false
    defer { if !isFound { wire.stop() } }
    let folder = try RemoteServer(address, SFTPSource(root: access.path, file: nil), wire, options)
    do throws(Fault) {
      let answer = try answer(of: folder, folder.interface.item(at: root), limit: 64 << 10)
      guard answer.isSuccess, let item = try folder.interface.item(answer, at: root) else { throw folder.fault(answer) }
      if item.kind == .folder {
        folder.begin(with: item)
        isFound = true
        return folder
      }
    } catch {
      throw refusal(of: address, error)
    }
    let name = access.path.split(separator: UInt8(ascii: "/")).last.map { FileName($0) } ?? "file"
    let file = try RemoteServer(address, SFTPSource(root: access.path, file: name), wire, options)
    var exchange = file.interface.file(at: root)
    exchange.headers = start.headers
    let answer = try ask(file, exchange, limit: FileRecord.headSize)
    guard answer.isSuccess else {
      throw refusal(of: address, file.fault(answer))
    }
    try begin(file, with: answer, named: name)
    isFound = true
    return file
  }

  /// The maximum size of a page of a listing, in bytes.
  private static let largestPage = 16 << 20

  /// Returns the folder of an address. Throws a refusal if the server does not list it.
  private static func folder(_ address: ServerAddress, _ options: MountOptions) throws -> RemoteServer {
    if let server = try davFolder(address, options) { return server }
    let interface = WebFolder(address)
    let server = try webServer(address, interface, options)
    do throws(Fault) {
      let answer = try answer(of: server, interface.listing(of: root, after: nil), limit: 64 << 10)
      guard answer.isSuccess else { throw server.fault(answer) }
      _ = try interface.listing(answer, of: root)
      return server
    } catch {
      server.stop()
      throw Refusal(
        .sourceMissing, "cannot show \(address.text): \(error) (give the address of a file, or of a listed folder)")
    }
  }

  /// Returns the folder of an address if the server lists it by WebDAV. Throws a refusal if no server answers.
  private static func davFolder(_ address: ServerAddress, _ options: MountOptions) throws -> RemoteServer? {
    let interface = DAVFolder(address)
    let server = try webServer(address, interface, options)
    var isFound = false
    defer { if !isFound { server.stop() } }
    let answer = try ask(server, interface.item(at: root), limit: 64 << 10)
    guard let item = try? interface.item(answer, at: root), item.kind == .folder else { return nil }
    server.begin(with: item)
    isFound = true
    return server
  }

  private static let root = [UInt8(ascii: "/")]

  private static func webServer(
    _ address: ServerAddress, _ interface: any RemoteInterface, _ options: MountOptions
  ) throws -> RemoteServer {
    let settings = WireSettings(
      base: address.text + address.query, authorities: options.server.authorities, followsRedirections: true,
      usesPasswordFile: true)
    return try RemoteServer(address, interface, settings, options)
  }

  private static func refusal(of address: ServerAddress, _ fault: Fault = Fault(.system(ENOENT))) -> Refusal {
    let reason = fault.reason.isEmpty ? "\(describe(ENOENT)) (check the address)" : "\(fault)"
    return Refusal(.sourceMissing, "cannot show \(address.text): \(reason)")
  }

  /// Returns the response to a request for the start of a body. Throws a refusal if there is none.
  private static func ask(
    _ server: RemoteServer, _ exchange: HTTPExchange, limit: Int
  ) throws -> RepeatedRequest.Answer {
    do throws(Fault) { return try answer(of: server, exchange, limit: limit) } catch {
      throw Refusal(.sourceMissing, "cannot show \(server.address.text): \(error)")
    }
  }

  /// Returns the response to a request for the start of a body.
  private static func answer(
    of server: RemoteServer, _ exchange: HTTPExchange, limit: Int
  ) throws(Fault) -> RepeatedRequest.Answer {
    var exchange = exchange
    exchange.limit = longestStart
    let fetch = SharedFetch<RepeatedRequest.Answer>()
    let call = RepeatedRequest(server, exchange, limit: limit, takesStart: true, isRepeated: false) { result in
      fetch.finish(result)
    }
    call.start()
    return try fetch.value(.blocking)
  }
}
