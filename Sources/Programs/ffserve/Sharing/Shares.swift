import Assembly
import Bytes
import NIOHTTP1
import Tree

/// The links by which accounts give others access to a part of the tree: `/api/shares`. A link is an account of the file
/// of `--users`, which has one grant and usually an end.
struct Shares: Sendable {
  let visitor: Visitor

  private var site: Site { visitor.site }

  init(_ visitor: Visitor) { self.visitor = visitor }

  /// The longest validity of a link that has an end, in seconds.
  private static let longest: Int64 = 366 * 86400

  static func isAsked(by request: HTTPRequest) -> Bool { request.path == "/api/shares" }

  func answer(_ request: HTTPRequest) -> Site.Answer {
    guard let users = site.users else {
      return .now(.problem(.notImplemented, "links need a file of users (start the server with --users FILE)"))
    }
    guard visitor.mayShare else { return .now(.problem(.forbidden, "the account cannot share anything")) }
    let work: @Sendable () throws -> Response
    switch request.method {
    case .GET, .HEAD: work = { try list(users) }
    case .POST: work = { try add(request, users) }
    case .DELETE: work = { try remove(request, users) }
    default: return .now(.problem(.methodNotAllowed, headers: [("Allow", "GET, HEAD, POST, DELETE")]))
    }
    return .long { () throws(Fault) in
      do { return try work() } catch let fault as Fault { throw fault } catch {
        // The reason may contain a path of this machine.
        site.log("cannot change the file of users: \((error as? Refusal)?.sentence ?? "\(error)")")
        return .problem(.internalServerError, "the file of users cannot be changed (the server's log has the reason)")
      }
    }
  }

  /// Returns whether the account made a link, or has all rights.
  private func owns(_ share: Account.Share) -> Bool {
    visitor.account.everywhere.contains(.write) || share.maker == visitor.account.name
  }

  private func list(_ users: AccountStore) throws -> Response {
    let links = try users.accounts().compactMap { account -> JSON? in
      guard let share = account.share, owns(share), let grant = account.grants.first,
        let path = visitor.path(of: grant.path)
      else { return nil }
      return account.json(path: path, users.visits.count(of: account.name))
    }
    return .json(["links": .array(links)])
  }

  private func add(_ request: HTTPRequest, _ users: AccountStore) throws -> Response {
    guard let path = request.query.bytes("path").flatMap({ TreePath($0) }) else {
      return .problem(.badRequest, "the parameter path is missing, or contains . or .. or a NUL")
    }
    guard let rights = Rights(Substring(request.query.text("rights") ?? "read")) else {
      return .problem(.badRequest, "the parameter rights is not read, drop, read+drop or write")
    }
    var end: Int64?
    if let text = request.query.text("seconds") {
      guard let seconds = Int64(text), (1...Self.longest).contains(seconds) else {
        return .problem(.badRequest, "the parameter seconds is not a number up to \(Self.longest)")
      }
      end = HTTPDate.now.seconds + seconds
    }
    var most: Int?
    if let text = request.query.text("opens") {
      guard let number = Int(text), (1...1_000_000).contains(number) else {
        return .problem(.badRequest, "the parameter opens is not a number from 1 to 1000000")
      }
      most = number
    }
    let place: ResolvedPath
    do throws(Fault) { place = try visitor.whole(path) } catch {
      if error.isDelay { throw error }
      return .problem(error, instance: path.encoded)
    }
    let own = visitor.account.rights(at: place.names)
    guard own.contains(.change), own.isSuperset(of: rights) else {
      return .problem(.forbidden, "only an account that may change the item can share it", instance: path.encoded)
    }
    let password = Query(String(decoding: request.body, as: UTF8.self)[...]).bytes("password") ?? []
    let (link, secret) = try Account.Share.link(
      to: place.names, isFolder: place.attributes.kind == .folder, rights, until: end, most,
      by: visitor.account.name, password: password.isEmpty ? nil : password)
    try users.change(creating: false) { (file) throws(UserFile.Failure) in
      _ = try file.set(link.name, UserFile.line(link))
    }
    var answer = link.json(path: path, (0, nil))
    answer.add("address", Account.Share.address(of: link, secret))
    return .json(answer, status: .created)
  }

  private func remove(_ request: HTTPRequest, _ users: AccountStore) throws -> Response {
    let name = request.query.text("name") ?? ""
    var isKnown = false
    try users.change(creating: false) { (file) throws(UserFile.Failure) in
      guard let share = file.accounts.first(where: { $0.account.name == name })?.account.share, owns(share) else {
        return
      }
      isKnown = try file.set(name, nil)
    }
    return isKnown ? Response(.noContent) : .problem(.notFound, "there is no such link")
  }
}

extension Visitor {
  /// Whether the account may make links. A link cannot make others.
  var mayShare: Bool { account.share == nil && account.grants.contains { $0.rights.contains(.change) } }
}

extension Account {
  /// The properties of an account that is a link.
  struct Share: Sendable {
    /// The name of the account that made the link, whose rights limit those of the link. Empty for the owner of the
    /// server.
    let maker: String
    /// The maximum number of times that the link can be opened. Nil if there is no limit.
    let most: Int?

    private static let prefix = "share-"

    /// Returns whether an account's name is that of a link, which clients know only from the link.
    static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) && UserFile.isName(name[...]) }

    /// Returns a new link, and its token. The token is `nil` for a link with a password.
    ///
    /// - Throws: a refusal of the password.
    static func link(
      to names: [FileName], isFolder: Bool, _ rights: Rights, until end: Int64?, _ most: Int?, by maker: String,
      password: [UInt8]?
    ) throws -> (Account, token: String?) {
      let token = password == nil ? Secret.random() : nil
      let credential: Credential =
        try token.map { .token(Secret.digest(Array($0.utf8))) } ?? .password(PasswordHash.checked(password ?? []))
      let link = Account(
        prefix + Secret.random(), credential, [Grant(path: names, rights: rights)],
        root: isFolder ? names : Array(names.dropLast()), until: end, share: Share(maker: maker, most: most))
      return (link, token)
    }

    /// Returns the address of a link, relative to that of the server.
    static func address(of link: Account, _ token: String?) -> String {
      // The page opens the file.
      let file = link.grants.first.flatMap { $0.path == link.root ? nil : $0.path.last }
      let end = file.map { "#" + TreePath(names: [$0]).encoded } ?? ""
      return (token.map { "?token=\($0)" } ?? "login?name=\(link.name)") + end
    }
  }

  /// The object that describes a link.
  func json(path: TreePath, _ visits: (count: Int, last: Int64?)) -> JSON {
    var object: JSON = [
      "name": .string(name), "path": .string(path.text),
      "rights": .array((grants.first?.rights.words ?? []).map { .string($0) }),
      "hasPassword": .bool(!isProgram), "opened": JSON(visits.count),
    ]
    object.add("until", until.map { HTTPDate.iso(Timestamp(seconds: $0, nanoseconds: 0)) })
    object.add("opens", share?.most.map { JSON($0) })
    object.add("lastOpened", visits.last.map { HTTPDate.iso(Timestamp(seconds: $0, nanoseconds: 0)) })
    object.add("by", share.flatMap { $0.maker.isEmpty ? nil : $0.maker })
    return object
  }
}
