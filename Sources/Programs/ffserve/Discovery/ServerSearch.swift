import Assembly
import CAvahi
import Glibc

/// Queries the Avahi daemon for announced servers. For one thread.
@safe final class ServerSearch {
  private var client: OpaquePointer?
  private var found: [FoundServer] = []
  /// The number of services whose address is being resolved.
  private var waiting = 0
  private var asked = 0
  private var isListed = false
  private var failure: String?

  /// The maximum number of services, which the network determines.
  private static let most = 1024

  /// Returns the servers, in order of their names, that answer within `seconds` or until everything known has been
  /// reported. Blocks.
  func servers(within seconds: Int) throws -> [FoundServer] {
    guard let poll = unsafe avahi_simple_poll_new() else {
      throw Self.refusal(Self.sentence(Int32(AVAHI_ERR_NO_MEMORY)))
    }
    defer { unsafe avahi_simple_poll_free(poll) }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    var error: Int32 = 0
    let client = unsafe avahi_client_new(
      avahi_simple_poll_get(poll), AvahiClientFlags(0),
      { client, state, context in
        if state == AVAHI_CLIENT_FAILURE { unsafe ServerSearch.own(context)?.fail(avahi_client_errno(client)) }
      }, context, &error)
    guard let client = unsafe client else { throw Self.refusal(Self.sentence(error)) }
    // The client frees its pending requests.
    defer { unsafe avahi_client_free(client) }
    unsafe self.client = client
    let browser = unsafe avahi_service_browser_new(
      client, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC), Announcement.browsey, nil,
      AvahiLookupFlags(0),
      { _, interface, family, event, name, type, domain, _, context in
        guard let search = unsafe ServerSearch.own(context) else { return }
        switch event {
        case AVAHI_BROWSER_NEW: unsafe search.resolve(interface, family, name, type, domain)
        case AVAHI_BROWSER_ALL_FOR_NOW: search.isListed = true
        case AVAHI_BROWSER_FAILURE: search.fail(unsafe avahi_client_errno(search.client))
        default: break
        }
      }, context)
    guard unsafe browser != nil else { throw Self.refusal(Self.sentence(unsafe avahi_client_errno(client))) }
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    while failure == nil, !isListed || waiting > 0 {
      let rest = clock.now.duration(to: end).components
      let milliseconds = rest.seconds * 1000 + rest.attoseconds / 1_000_000_000_000_000
      guard milliseconds > 0, unsafe avahi_simple_poll_iterate(poll, Int32(clamping: milliseconds)) == 0 else { break }
    }
    if let failure { throw Self.refusal(failure) }
    return found.sorted { ($0.name, $0.host, $0.port) < ($1.name, $1.host, $1.port) }
  }

  private static func own(_ context: UnsafeMutableRawPointer?) -> ServerSearch? {
    unsafe context.map { unsafe Unmanaged<ServerSearch>.fromOpaque($0).takeUnretainedValue() }
  }

  private func fail(_ status: Int32) { failure = Self.sentence(status) }

  private static func sentence(_ status: Int32) -> String {
    unsafe avahi_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
  }

  private static func refusal(_ reason: String) -> Refusal {
    Refusal(
      .failure,
      "cannot search the local network: the Avahi daemon does not answer: \(reason) "
        + "(install and start avahi-daemon, or use the address that ffmount serve prints)")
  }

  private func resolve(
    _ interface: AvahiIfIndex, _ family: AvahiProtocol, _ name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?,
    _ domain: UnsafePointer<CChar>?
  ) {
    guard asked < Self.most else { return }
    asked += 1
    // The address is resolved in the protocol of the announcement: the server may not listen on the other one.
    let resolver = unsafe avahi_service_resolver_new(
      client, interface, family, name, type, domain, family, AvahiLookupFlags(0),
      { resolver, interface, _, event, name, _, _, host, address, port, texts, _, context in
        guard let search = unsafe ServerSearch.own(context) else { return }
        search.waiting -= 1
        if event == AVAHI_RESOLVER_FOUND, let name = unsafe name, let host = unsafe host, let address = unsafe address {
          unsafe search.note(
            String(cString: name), String(cString: host), port, ServerSearch.text(of: address, on: interface),
            ServerSearch.pairs(texts))
        }
        _ = unsafe avahi_service_resolver_free(resolver)
      }, Unmanaged.passUnretained(self).toOpaque())
    if unsafe resolver != nil { waiting += 1 }
  }

  private func note(_ name: String, _ host: String, _ port: UInt16, _ address: String, _ texts: [String: String]) {
    let known = found.firstIndex { $0.name == name && $0.host == host && $0.port == port }
    guard let known else {
      return found.append(FoundServer(name: name, host: host, port: port, texts: texts, addresses: [address]))
    }
    if found[known].addresses.contains(address) { return }
    // IPv4 addresses come first, which are easier to type.
    found[known].addresses.append(address)
    found[known].addresses.sort { ($0.contains(":") ? 1 : 0, $0) < ($1.contains(":") ? 1 : 0, $1) }
  }

  private static func text(of address: UnsafePointer<AvahiAddress>, on interface: AvahiIfIndex) -> String {
    var buffer = [CChar](repeating: 0, count: 64)
    _ = unsafe avahi_address_snprint(&buffer, buffer.count, address)
    let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard text.hasPrefix("fe80:"), interface > 0 else { return text }
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    guard unsafe if_indextoname(UInt32(interface), &name) != nil else { return text }
    return text + "%" + String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Returns the first value of each key of a TXT record (RFC 6763, section 6.4).
  private static func pairs(_ texts: UnsafeMutablePointer<AvahiStringList>?) -> [String: String] {
    var pairs: [String: String] = [:]
    var next = unsafe texts
    while let entry = unsafe next {
      defer { unsafe next = avahi_string_list_get_next(entry) }
      guard let start = unsafe avahi_string_list_get_text(entry) else { continue }
      let bytes = unsafe UnsafeBufferPointer(start: start, count: avahi_string_list_get_size(entry))
      let parts = unsafe String(decoding: bytes, as: UTF8.self)
        .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, pairs.count < 32 else { continue }
      let key = parts[0].lowercased()
      if pairs[key] == nil { pairs[key] = String(parts[1]) }
    }
    return pairs
  }
}
