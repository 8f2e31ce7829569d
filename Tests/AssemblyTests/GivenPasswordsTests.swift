import Bytes
import Files
import Glibc
import Testing

@testable import Assembly

@Suite struct GivenPasswordsTests {
  private func name(_ change: GivenPasswords.Change, _ password: [UInt8]) -> FileName {
    FileName(Array("user.ffmount.\(change.rawValue).".utf8) + password)
  }

  @Test func passwordsAreAddedAndTakenBack() {
    let passwords = Passwords([[1]])
    let given = GivenPasswords(addingTo: passwords, nil)
    #expect(given.value(of: name(.add, [2])) == [])
    // One that is given again is tried last.
    #expect(given.value(of: name(.add, [0xff, 0x2e])) == [] && given.value(of: name(.add, [2])) == [])
    #expect(passwords.now.passwords == [[1], [0xff, 0x2e], [2]])
    let number = passwords.now.number
    #expect(given.value(of: name(.remove, [2])) == [])
    #expect(passwords.now.passwords == [[1], [0xff, 0x2e]] && passwords.now.number == number + 1)
    // Those of the file cannot be taken back.
    #expect(given.value(of: name(.remove, [1])) == [] && passwords.now.passwords.count == 2)
    for other in ["user.ffmount.error", "user.ffmount.unlock", "user.ffmount.unlock."] {
      #expect(given.value(of: FileName(other.utf8)) == nil)
    }
    #expect(given.value(of: name(.add, [UInt8](repeating: 1, count: GivenPasswords.longest + 1))) == nil)
  }

  @Test func listIsEmptyUntilAPasswordIsAdded() {
    let passwords = Passwords()
    #expect(passwords.areNone)
    passwords.change { $0.append([1]) }
    #expect(!passwords.areNone && passwords.now.number == 1)
    passwords.change { $0.removeAll() }
    #expect(passwords.areNone && passwords.now.number == 2)
  }

  @Test func nextProcessHasThePasswords() throws {
    let file = Descriptor(owning: Int32(memfd()))
    func memory() throws -> SharedMemory { try SharedMemory(file, at: 0, capacity: GivenPasswords.capacity) }
    let first = GivenPasswords(addingTo: Passwords(), try memory())
    let long = [UInt8](repeating: 7, count: GivenPasswords.longest)
    for password in [[1, 2], long, [3]] { _ = first.value(of: name(.add, password)) }
    _ = first.value(of: name(.remove, [3]))
    let passwords = Passwords([[9]])
    let second = GivenPasswords(addingTo: passwords, try memory())
    #expect(passwords.now.passwords == [[9], [1, 2], long])
    // More than there is memory for.
    for number in 0..<600 { _ = second.value(of: name(.add, [UInt8(number / 200 + 1), UInt8(number % 200 + 1)])) }
    let last = Passwords()
    _ = GivenPasswords(addingTo: last, try memory())
    #expect(last.now.passwords.count == 255)
  }

  /// An unlinked file, which serves as well as memory that outlives the process.
  private func memfd() -> Int32 {
    var template = Array("/tmp/ffmount-memory.XXXXXX".utf8CString)
    let file = unsafe mkstemp(&template)
    _ = unsafe unlink(template)
    return file
  }
}
