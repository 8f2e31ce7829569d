internal import CFuse3
internal import CPosix
internal import Files
internal import Glibc

/// The memory in which a reader receives requests, one at a time: its own, or slots that the next process can read.
@safe struct RequestBuffer: ~Copyable {
  private let slots: RequestSlots?
  /// The reader's own memory. Allocated with the first request.
  private var own = unsafe fuse_buf()
  /// The current request.
  private var buffer = unsafe fuse_buf()
  private var slot = RequestSlots.none

  init(_ slots: RequestSlots?) {
    self.slots = slots
    ffmount_use_alternate_stack()
  }

  deinit {
    slots?.release(slot)
    unsafe free(own.mem)
  }

  var head: RequestHeader { unsafe RequestHeader(buffer) }

  /// Waits for the next request, or takes one that an earlier process left. Returns its size, 0 at the end of the
  /// mount, or a negative errno.
  mutating func receive(_ session: OpaquePointer) -> Int32 {
    guard let slots else { return unsafe receiveIntoOwn(session) }
    if let size = unsafe receiveInherited(session) { return size }
    if slot == RequestSlots.none { slot = slots.take() ?? RequestSlots.none }
    guard slot != RequestSlots.none else { return unsafe receiveIntoOwn(session) }
    unsafe buffer.mem = slots.address(slot)
    return unsafe fuse_session_receive_buf(session, &buffer)
  }

  /// Takes a request that an earlier process left. Returns its size. Returns `nil` if there is none.
  ///
  /// - Parameter isWanted: returns whether to take a request with this operation code.
  mutating func receiveInherited(
    _ session: OpaquePointer, where isWanted: (UInt32) -> Bool = { _ in true }
  ) -> Int32? {
    guard let slots else { return nil }
    while let inherited = slots.takeInherited(where: isWanted) {
      unsafe buffer.mem = slots.address(inherited)
      // struct fuse_in_header begins with the length.
      unsafe buffer.size = Int(buffer.mem.load(as: UInt32.self))
      let head = head
      if let answer = slots.journal?.answer(inherited) {
        unsafe send(answer.error, answer.bytes, to: head, session)
        slots.release(inherited)
        continue
      }
      if head.isRepeatable, !slots.hasSeenTooMuch(inherited) {
        slots.release(slot)
        slot = inherited
        return Int32(truncatingIfNeeded: unsafe buffer.size)
      }
      if head.isRepeatable { unsafe refuse(head, session) }
      slots.release(inherited)
    }
    return nil
  }

  private mutating func receiveIntoOwn(_ session: OpaquePointer) -> Int32 {
    defer { unsafe buffer = own }
    return unsafe fuse_session_receive_buf(session, &own)
  }

  /// Processes the request, which is then answered or parked.
  mutating func process(_ session: OpaquePointer) {
    guard let slots, slot != RequestSlots.none else { return unsafe fuse_session_process_buf(session, &buffer) }
    let head = head
    let subject = head.subject
    if slots.isPoison(subject, of: head.node) {
      unsafe refuse(head, session)
    } else {
      ffmount_work_on(ffmount_work(subject: subject, node: head.node))
      ffmount_offer_slot(slot)
      unsafe fuse_session_process_buf(session, &buffer)
      ffmount_work_on(ffmount_work())
      // Taken by a `Request`, which releases it.
      if ffmount_take_slot() == RequestSlots.none {
        slot = RequestSlots.none
        return
      }
    }
    slots.release(slot)
    slot = RequestSlots.none
  }

  private func refuse(_ head: RequestHeader, _ session: OpaquePointer) {
    unsafe send(EIO, [], to: head, session)
  }

  private func send(_ error: Int32, _ bytes: [UInt8], to head: RequestHeader, _ session: OpaquePointer) {
    // struct fuse_out_header: u32 length, s32 error, u64 unique.
    let answer = [UInt64(16 + bytes.count) | UInt64(UInt32(bitPattern: -error)) << 32, head.number]
    let message = unsafe answer.withUnsafeBytes { unsafe Array($0) } + bytes
    _ = unsafe write(fuse_session_fd(session), message, message.count)
  }
}
