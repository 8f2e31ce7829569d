import Assembly
import Bytes
import FileTrees
import Glibc
import ServerAnswers
import Text
import Threads

/// The source of another ffmount that is elsewhere.
struct RemoteSource {
  /// The address as the user has given it.
  let given: String
  let options: MountOptions
  /// Nil if nothing is kept.
  let cache: SourceCache?
  /// Whether another process has found the source before. The server can be away then.
  var isMounted = false

  /// The time limit for each first request, in milliseconds.
  private static let longestStart = 15_000

  /// Returns what is at the address. Returns `nil` if that is `ffmount serve`. Blocks.
  ///
  /// - Throws: a refusal if there is nothing that can be mounted.
  func find() throws -> RemoteServer? {
    guard let server = try found() else { return nil }
    if let kept = server.kept { kept.keep(KeptSource.Kind(server.interface)) }
    return server
  }

  private func found() throws -> RemoteServer? {
    if given.hasPrefix("s3://") { return try bucket() }
    if given.hasPrefix("sftp://") { return try sftp() }
    let address = try ServerAddress(given, hasQuery: true)
    switch try knownKind(kept(address), address) {
    case .file: return try webServer(address, WebFile(name: Self.name(in: address)))
    case .folder: return try webServer(address, WebFolder(address))
    case .davFolder: return known(try webServer(address, DAVFolder(address)))
    case nil: break
    }
    if address.isFolder {
      if try isServer(address) { return nil }
      return try folder(address)
    }
    if let file = try file(address) { return file }
    guard try isServer(address) else { throw Self.refusal(of: address) }
    return nil
  }

  /// Returns the kind of a source that is mounted offline, or was found before. Returns `nil` if the server has to be
  /// asked. Throws a refusal if it must not be asked, and nothing of the source is kept.
  private func knownKind(_ kept: KeptSource?, _ address: ServerAddress) throws -> KeptSource.Kind? {
    guard isMounted || options.server.isOffline else { return nil }
    if let kind = kept?.kind { return kind }
    guard options.server.isOffline else { return nil }
    throw Refusal(
      .sourceMissing,
      "cannot show \(address.text) with -o offline: nothing of it has been kept (mount it without offline first)")
  }

  /// Returns the server of a folder, with the attributes of its root if those are kept.
  private func known(_ server: RemoteServer) -> RemoteServer {
    if let root = server.kept?.item(at: Self.root) { server.begin(with: root) }
    return server
  }

  /// Returns whether `ffmount serve` answers. Throws a refusal if nothing does.
  private func isServer(_ address: ServerAddress) throws -> Bool {
    guard address.query.isEmpty else { return false }
    let settings = WireSettings(base: address.text, authorities: options.server.authorities)
    let server = try RemoteServer(address, ServerInterface(), settings, options)
    defer { server.stop() }
    let answer = try Self.ask(server, HTTPExchange("/api/stat?path=%2F"), limit: 64 << 10)
    if answer.head.status == 200 { return (try? ServerAnswer.item(answer.body, named: ""))?.kind == .folder }
    // Its problems are objects, those of other servers are pages. Nothing but WebDAV is at its other addresses.
    return answer.head.status != 404 && ServerAnswer.sentence(answer.body) != nil
  }

  /// Returns the name of the file at an address.
  private static func name(in address: ServerAddress) -> FileName {
    let last = address.text.split(separator: "/").last.map { Array($0.utf8) } ?? []
    return Percent.decoded(last).flatMap { ServerItem.isName($0) ? FileName($0) : nil } ?? "file"
  }

  /// Returns the file of an address. Returns `nil` if there is none.
  private func file(_ address: ServerAddress) throws -> RemoteServer? {
    let name = Self.name(in: address)
    let server = try webServer(address, WebFile(name: name))
    var isFound = false
    defer { if !isFound { server.stop() } }
    let (answer, known) = try Self.askForStart(server)
    guard answer.isSuccess || known != nil else {
      // A folder of WebDAV need not be a page.
      if answer.head.status != 401, let folder = try davFolder(address) { return folder }
      if [404, 410].contains(answer.head.status) || answer.head.status == 401 && answer.head.type.contains("json") {
        return nil
      }
      throw Refusal(.sourceMissing, "cannot show \(address.text): \(server.fault(answer))")
    }
    if known == nil, answer.head.type == "text/html" {
      if FolderPage.isListing(answer.body) { return try folder(address) }
      // Servers also show a folder of WebDAV by a page of their own.
      if let folder = try davFolder(address) { return folder }
    }
    try Self.begin(server, with: answer, knowing: known, named: name)
    isFound = true
    return server
  }

  /// Requests the start of the only file. Returns the response, and the kept version if the server confirms it.
  private static func askForStart(
    _ server: RemoteServer
  ) throws -> (answer: RepeatedRequest.Answer, confirmed: OpenedFile?) {
    let file = server.interface.file(at: root)
    let known = server.kept?.version(of: file.target)
    let answer = try ask(server, FileRecord.start(of: file, unlike: known), limit: FileRecord.headSize)
    return (answer, answer.head.status == 304 ? known : nil)
  }

  /// Records the start of the only file. Throws a refusal if the server does not send parts of it.
  ///
  /// - Parameter known: the kept version, if the server has confirmed it.
  private static func begin(
    _ server: RemoteServer, with answer: RepeatedRequest.Answer, knowing known: OpenedFile?, named name: FileName
  ) throws {
    do throws(Fault) {
      let opened = if let known { known } else { try FileRecord.opened(answer, server) }
      if opened.needsCopy, server.downloads == nil { throw server.lacksParts }
      let record = FileRecord.of(root + name.bytes, server)
      record.confirm(opened, askedAt: HTTPClient.now)
      server.kept?.keep(opened, of: server.interface.file(at: record.path).target)
      var item = ServerItem()
      (item.name, item.size, item.tag) = (name, .exact(opened.size), opened.version)
      item.modified = Timestamp(seconds: opened.modified ?? 0)
      server.keep([item], of: root, tag: answer.head.tag, took: 0)
    } catch {
      throw Refusal(.sourceUnsuitable, "cannot show \(server.address.text): \(error)")
    }
  }

  /// Returns the object, or the folder of objects, of an address of S3.
  ///
  /// - Parameter region: that of the bucket, if the server has said it.
  private func bucket(region: String? = nil) throws -> RemoteServer {
    let access = try S3Access(given, options.server, region: region)
    let address = ServerAddress(other: given)
    // AWS has to be asked for the region of the bucket.
    let kind = isMounted && access.isOfAWS ? nil : try knownKind(kept(access, isObject: false), address)
    var isFound = false
    if !access.key.isEmpty, !address.isFolder, kind != .folder,
      let last = access.key.split(separator: UInt8(ascii: "/")).last, ServerItem.isName(last)
    {
      let name = FileName(last)
      let settings = access.settings(options.server, isObject: true)
      let server = try RemoteServer(
        address, S3File(name: name, access: access), settings, options, kept(access, isObject: true))
      if kind != nil { return server }
      defer { if !isFound { server.stop() } }
      let (answer, confirmed) = try Self.askForStart(server)
      if region == nil, let other = access.otherRegion(answer) { return try bucket(region: other) }
      if answer.isSuccess || confirmed != nil {
        try Self.begin(server, with: answer, knowing: confirmed, named: name)
        isFound = true
        return server
      }
      // Whether an object exists is told only to those that may list the bucket.
      guard [403, 404].contains(answer.head.status) else { throw Self.refusal(of: address, server.fault(answer)) }
    }
    let slash = UInt8(ascii: "/")
    let prefix = access.key.isEmpty || access.key.last == slash ? access.key : access.key + [slash]
    let interface = S3Folder(prefix: prefix, access: access)
    let server = try RemoteServer(
      address, interface, access.settings(options.server, isObject: false), options, kept(access, isObject: false))
    if kind != nil { return server }
    defer { if !isFound { server.stop() } }
    let answer = try Self.ask(server, interface.listing(of: Self.root, after: nil), limit: Self.largestPage)
    if region == nil, let other = access.otherRegion(answer) { return try bucket(region: other) }
    do throws(Fault) {
      guard answer.isSuccess else { throw server.fault(answer) }
      let page = try interface.listing(answer, of: Self.root)
      // A folder that has only an object of its own is empty.
      guard prefix.isEmpty || page.next != nil || interface.hasEntries(answer) else { throw Fault(.system(ENOENT)) }
      if page.next == nil { server.keep(page.items, of: Self.root, tag: nil, took: 0) }
    } catch {
      throw Self.refusal(of: address, error)
    }
    isFound = true
    return server
  }

  /// Returns the file or folder of an address of SFTP.
  private func sftp() throws -> RemoteServer {
    let access = try SFTPAddress(given, options.server)
    let address = ServerAddress(other: given)
    let kept = KeptSource(cache, [given, access.place], base: access.place, tagsAreTimes: true)
    let name = access.path.split(separator: UInt8(ascii: "/")).last.map { FileName($0) } ?? "file"
    let kind = try knownKind(kept, address)
    let isOffline = options.server.isOffline
    let wire: any Wire = isOffline ? OfflineWire() : try SFTPClient(access.command, silence: options.server.wait)
    if let kind {
      let interface = SFTPSource(root: access.path, file: kind == .file ? name : nil)
      return known(try RemoteServer(address, interface, wire, options, kept))
    }
    var isFound = false
    defer { if !isFound { wire.stop() } }
    let folder = try RemoteServer(address, SFTPSource(root: access.path, file: nil), wire, options, kept)
    do throws(Fault) {
      let answer = try Self.answer(of: folder, folder.interface.item(at: Self.root), limit: 64 << 10)
      guard answer.isSuccess, let item = try folder.interface.item(answer, at: Self.root) else {
        throw folder.fault(answer)
      }
      if item.kind == .folder {
        folder.begin(with: item)
        isFound = true
        return folder
      }
    } catch {
      throw Self.refusal(of: address, error)
    }
    let file = try RemoteServer(address, SFTPSource(root: access.path, file: name), wire, options, kept)
    let (answer, known) = try Self.askForStart(file)
    guard answer.isSuccess || known != nil else {
      throw Self.refusal(of: address, file.fault(answer))
    }
    try Self.begin(file, with: answer, knowing: known, named: name)
    isFound = true
    return file
  }

  /// The maximum size of a page of a listing, in bytes.
  private static let largestPage = 16 << 20

  /// Returns the folder of an address. Throws a refusal if the server does not list it.
  private func folder(_ address: ServerAddress) throws -> RemoteServer {
    if let server = try davFolder(address) { return server }
    let interface = WebFolder(address)
    let server = try webServer(address, interface)
    do throws(Fault) {
      let answer = try Self.answer(of: server, interface.listing(of: Self.root, after: nil), limit: 64 << 10)
      guard answer.isSuccess else { throw server.fault(answer) }
      _ = try interface.listing(answer, of: Self.root)
      return server
    } catch {
      server.stop()
      throw Refusal(
        .sourceMissing, "cannot show \(address.text): \(error) (give the address of a file, or of a listed folder)")
    }
  }

  /// Returns the folder of an address if the server lists it by WebDAV. Throws a refusal if no server answers.
  private func davFolder(_ address: ServerAddress) throws -> RemoteServer? {
    let interface = DAVFolder(address)
    let server = try webServer(address, interface)
    var isFound = false
    defer { if !isFound { server.stop() } }
    let answer = try Self.ask(server, interface.item(at: Self.root), limit: 64 << 10)
    guard let item = try? interface.item(answer, at: Self.root), item.kind == .folder else { return nil }
    server.begin(with: item)
    isFound = true
    return server
  }

  private static let root = [UInt8(ascii: "/")]

  private func kept(_ address: ServerAddress) -> KeptSource? {
    KeptSource(cache, [given], base: address.text + address.query)
  }

  private func kept(_ access: S3Access, isObject: Bool) -> KeptSource? {
    KeptSource(
      cache, [given, access.place], base: access.place + (isObject ? "/" + WebServer.encoded(access.key) : ""))
  }

  private func webServer(_ address: ServerAddress, _ interface: any RemoteInterface) throws -> RemoteServer {
    let settings = WireSettings(
      base: address.text + address.query, authorities: options.server.authorities, followsRedirections: true,
      usesPasswordFile: true)
    return try RemoteServer(address, interface, settings, options, kept(address))
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
