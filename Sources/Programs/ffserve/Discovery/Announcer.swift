import CAvahi
import Glibc

/// Announces a server in the local network by the Avahi daemon of this machine, as long as both run. Where no daemon
/// runs, nothing is said of that, and one that is started later is asked then.
///
/// All state is of the thread of `poll`, and after `end` of who called that.
@safe final class Announcer: @unchecked Sendable {
  enum News: Sendable {
    /// By this name, which differs from the wanted one if another server had that.
    case announced(String)
    /// What other machines call this one.
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
  /// How often the name was taken since the daemon was reached.
  private var collisions = 0
  /// Until the daemon is asked again, in seconds.
  private var pause = Announcer.shortestPause

  private static let shortestPause = 1
  private static let longestPause = 60
  private static let mostCollisions = 100

  /// nil if there is no memory or thread for it.
  /// - Parameter tell: called on a thread of its own, which it must not block.
  init?(_ announcement: Announcement, tell: @escaping @Sendable (News) -> Void) {
    guard let poll = unsafe avahi_threaded_poll_new() else { return nil }
    unsafe self.poll = poll
    self.announcement = announcement
    self.tell = tell
    name = announcement.name
    // The daemon is first asked on that thread, since D-Bus may be slow.
    schedule(after: 0)
    guard unsafe timer != nil, unsafe avahi_threaded_poll_start(poll) == 0 else {
      unsafe avahi_threaded_poll_free(poll)
      return nil
    }
  }

  /// Withdraws the announcement. Blocks until the daemon has heard it.
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

  /// Asks the daemon anew: what it was told before is lost when it or D-Bus ends.
  private func connect() {
    leave()
    collisions = 0
    var error: Int32 = 0
    // Without a daemon the client waits for one; without D-Bus there is none.
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
      // The machine is about to get another name; what is announced goes with that.
      if let group = unsafe group { _ = unsafe avahi_entry_group_reset(group) }
    case AVAHI_CLIENT_FAILURE: connectLater()
    default: break
    }
  }

  // MARK: What is announced

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

  /// False if so many names are taken that somebody wants none to be left.
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
