import CAvahi
import Glibc

/// Announces a server in the local network by the Avahi daemon of this machine, while both run. A missing daemon is not
/// reported, and is used when it starts later.
///
/// All state belongs to the thread of `poll`, and after `end` to its caller.
@safe final class Announcer: @unchecked Sendable {
  enum News: Sendable {
    /// The server is announced under this name. It differs from the requested one if another server had that.
    case announced(String)
    /// The name of this machine on other machines.
    case host(String)
    case gaveUp(String)
  }

  private let announcement: Announcement
  private let tell: @Sendable (News) -> Void
  private let poll: OpaquePointer
  private var client: OpaquePointer?
  private var group: OpaquePointer?
  private var timer: OpaquePointer?
  private var name: String
  /// The number of name collisions since the daemon was reached.
  private var collisions = 0
  /// The time until the next connection attempt, in seconds.
  private var pause = Announcer.shortestPause

  private static let shortestPause = 1
  private static let longestPause = 60
  private static let mostCollisions = 100

  /// Returns `nil` if there is not enough memory, or no thread can be started.
  ///
  /// - Parameter tell: called on a thread of its own, which it must not block.
  init?(_ announcement: Announcement, tell: @escaping @Sendable (News) -> Void) {
    guard let poll = unsafe avahi_threaded_poll_new() else { return nil }
    unsafe self.poll = poll
    self.announcement = announcement
    self.tell = tell
    name = announcement.name
    // The first connection is made on that thread, since D-Bus may be slow.
    schedule(after: 0)
    guard unsafe timer != nil, unsafe avahi_threaded_poll_start(poll) == 0 else {
      unsafe avahi_threaded_poll_free(poll)
      return nil
    }
  }

  /// Withdraws the announcement. Blocks until the daemon has been told.
  func end() {
    unsafe avahi_threaded_poll_stop(poll)
    leave()
    unsafe avahi_threaded_poll_free(poll)
  }

  private var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  private static func own(_ context: UnsafeMutableRawPointer?) -> Announcer? {
    unsafe context.map { unsafe Unmanaged<Announcer>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: The daemon

  private func schedule(after seconds: Int) {
    var time = timeval()
    _ = unsafe gettimeofday(&time, nil)
    time.tv_sec += seconds
    guard let calls = unsafe avahi_threaded_poll_get(poll) else { return }
    if let timer = unsafe timer { return unsafe calls.pointee.timeout_update(timer, &time) }
    unsafe timer = calls.pointee.timeout_new(
      calls, &time, { _, context in unsafe Announcer.own(context)?.connect() }, context)
  }

  /// Connects to the daemon anew: earlier announcements are lost when it or D-Bus exits.
  private func connect() {
    leave()
    collisions = 0
    var error: Int32 = 0
    // If no daemon runs, the client waits for one. If D-Bus does not run, no client is created.
    unsafe client = avahi_client_new(
      avahi_threaded_poll_get(poll), AVAHI_CLIENT_NO_FAIL,
      { client, state, context in unsafe Announcer.own(context)?.noteState(state, of: client) }, context, &error)
    if unsafe client == nil { connectLater() }
  }

  private func connectLater() {
    schedule(after: pause)
    pause = min(Self.longestPause, pause * 2)
  }

  private func leave() {
    if let group = unsafe group { _ = unsafe avahi_entry_group_free(group) }
    if let client = unsafe client { unsafe avahi_client_free(client) }
    unsafe (group, client) = (nil, nil)
  }

  /// - Parameter current: the client, which may not have been returned yet.
  private func noteState(_ state: AvahiClientState, of current: OpaquePointer?) {
    guard let current = unsafe current else { return }
    unsafe client = current
    switch state {
    case AVAHI_CLIENT_S_RUNNING:
      pause = Self.shortestPause
      if let host = unsafe avahi_client_get_host_name_fqdn(current) { tell(.host(unsafe String(cString: host))) }
      publish()
    case AVAHI_CLIENT_S_COLLISION, AVAHI_CLIENT_S_REGISTERING:
      // The machine is about to get another name, which invalidates the announcement.
      if let group = unsafe group { _ = unsafe avahi_entry_group_reset(group) }
    case AVAHI_CLIENT_FAILURE: connectLater()
    default: break
    }
  }

  // MARK: Publishing

  private func publish() {
    guard let client = unsafe client else { return }
    if unsafe group == nil {
      unsafe group = avahi_entry_group_new(
        client, { group, state, context in unsafe Announcer.own(context)?.noteState(state, ofGroup: group) }, context)
    }
    guard let group = unsafe group else { return connectLater() }
    guard unsafe avahi_entry_group_is_empty(group) != 0 else { return }
    while true {
      let status = unsafe add(to: group)
      if status == AVAHI_ERR_COLLISION {
        _ = unsafe avahi_entry_group_reset(group)
        if takeOtherName() { continue }
        return
      }
      guard status == AVAHI_OK else { return giveUp(status) }
      let committed = unsafe avahi_entry_group_commit(group)
      return committed == AVAHI_OK ? () : giveUp(committed)
    }
  }

  private func add(to group: OpaquePointer) -> Int32 {
    for service in announcement.services {
      var texts: UnsafeMutablePointer<AvahiStringList>?
      for text in service.texts.reversed() { unsafe texts = avahi_string_list_add(texts, text) }
      defer { unsafe avahi_string_list_free(texts) }
      let status = unsafe avahi_entry_group_add_service_strlst(
        group, announcement.interface, announcement.family, AvahiPublishFlags(0), name, service.type, nil, nil,
        announcement.port, texts)
      guard status == AVAHI_OK else { return status }
    }
    return Int32(AVAHI_OK)
  }

  private func noteState(_ state: AvahiEntryGroupState, ofGroup current: OpaquePointer?) {
    guard let current = unsafe current else { return }
    unsafe group = current
    switch state {
    case AVAHI_ENTRY_GROUP_ESTABLISHED: tell(.announced(name))
    case AVAHI_ENTRY_GROUP_COLLISION:
      _ = unsafe avahi_entry_group_reset(current)
      if takeOtherName() { publish() }
    case AVAHI_ENTRY_GROUP_FAILURE: connectLater()
    default: break
    }
  }

  /// Chooses another name. Returns `false` after too many collisions, which may be intended by an attacker.
  private func takeOtherName() -> Bool {
    collisions += 1
    guard collisions <= Self.mostCollisions, let other = unsafe avahi_alternative_service_name(name) else {
      tell(.gaveUp("every name like “\(announcement.name)” is taken"))
      return false
    }
    name = unsafe String(cString: other)
    unsafe avahi_free(other)
    return true
  }

  private func giveUp(_ status: Int32) {
    guard status != AVAHI_ERR_DISCONNECTED, status != AVAHI_ERR_BAD_STATE else { return connectLater() }
    tell(.gaveUp(unsafe avahi_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"))
  }
}
