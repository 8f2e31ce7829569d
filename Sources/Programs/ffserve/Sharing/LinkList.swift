import Assembly
import Bytes

/// `ffmount serve share`: changes and prints the links in the file of `--users`.
struct LinkList: AccountCommand {
  private let options: ServeShareOptions
  private let store: AccountStore

  init(_ options: ServeShareOptions) {
    self.options = options
    store = AccountStore(at: options.users, Visits(beside: options.users))
  }

  var action: AccountAction { options.action }
  var subject: String? { options.subject }
  var isJSON: Bool { options.json }

  func list() throws {
    let links = try store.accounts().filter { $0.share != nil }
    func json(_ link: Account) -> JSON {
      link.json(path: TreePath(names: link.grants.first?.path ?? []), store.visits.count(of: link.name))
    }
    if options.json { return print(JSON.array(links.map(json)).document) }
    if links.isEmpty { print("No link is in \(Terminal.shown(options.users)).") }
    for link in links {
      link.show(link.isProgram ? "" : " (password)")
      let most = link.share?.most.map { " of \($0)" } ?? ""
      print("  opened \(store.visits.count(of: link.name).count)\(most) times")
    }
  }

  func add(_ path: String) throws {
    guard let names = TreePath(Array(path.utf8))?.names, !names.isEmpty || !options.file else {
      throw Refusal(.usage, "\(path): a path cannot contain . or ..")
    }
    guard let rights = Rights(options.rights[...]) else {
      throw Refusal(.usage, "--rights \(options.rights): expected read, drop, read+drop or write")
    }
    let (link, token) = try Account.Share.link(
      to: names, isFolder: !options.file, rights, until: options.validSeconds.map { HTTPDate.now.seconds + $0 },
      options.opens, by: "", password: options.password ? try PasswordHash.entered(for: path) : nil)
    try store.change(creating: true) { (file) throws(UserFile.Failure) in
      _ = try file.set(link.name, UserFile.line(link))
    }
    let server = options.url.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? "/"
    let address = server + Account.Share.address(of: link, token)
    if options.json {
      var answer = link.json(path: TreePath(names: names), (0, nil))
      answer.add("address", address)
      return print(answer.document)
    }
    print("\(link.name) was added")
    print(address)
  }

  func remove(_ name: String) throws {
    let isKnown = try store.change(creating: false) { (file) throws(UserFile.Failure) in
      Account.Share.isName(name) ? try file.set(name, nil) : false
    }
    guard isKnown else {
      throw Refusal(.failure, "cannot remove \(name): not a link (run: ffmount serve share list)")
    }
    print("\(name) was removed")
  }
}
