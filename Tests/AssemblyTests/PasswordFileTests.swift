import Assembly
import Bytes
import Glibc
import TestSupport
import Testing

@Suite struct PasswordFileTests {
  /// Each permission of the group and of the others by itself.
  @Test(arguments: [0o40, 0o20, 0o10, 0o4, 0o2, 0o1] as [mode_t])
  func passwordFileAccessibleToOthersIsRefused(_ permission: mode_t) throws {
    let folder = try SourceFolder()
    try folder.write("words", "secret\n")
    let path = folder.path + "/words"
    for mode in [0o600 | permission, 0o600] {
      #expect(unsafe chmod(path, mode) == 0)
      let isRead = (try? PasswordFile(at: path).passwords()) != nil
      #expect(isRead == (mode == 0o600))
    }
  }

  /// As editors on Windows write it.
  @Test(arguments: ["secret\nother\n", "\u{feff}secret\r\nother\r\n", "\u{feff}secret\nother", "\r\nsecret\r\nother"])
  func marksAndEndsOfLinesAreNoPartOfAPassword(_ text: String) throws {
    let folder = try SourceFolder()
    try folder.write("words", text)
    let path = folder.path + "/words"
    #expect(unsafe chmod(path, 0o600) == 0)
    #expect(try PasswordFile(at: path).passwords().now.passwords == ["secret", "other"].map { Array($0.utf8) })
  }

  /// The file of the option is resolved once: what takes its name later is not followed elsewhere, and is no file that
  /// others could have made.
  @Test func fileThatReplacesThePasswordFileIsCheckedAgain() throws {
    let folder = try SourceFolder()
    try folder.write("words", "secret\n")
    try folder.write("other", "elsewhere\n")
    let path = folder.path + "/words"
    #expect(unsafe chmod(path, 0o600) == 0 && chmod(folder.path + "/other", 0o600) == 0)
    let passwords = try PasswordFile(at: path).passwords()
    #expect(passwords.now.passwords == [Array("secret".utf8)])
    let changes: [(String, () -> Int32, [String])] = [
      ("a link", { unsafe symlink("other", path) }, []), ("a FIFO", { unsafe mkfifo(path, 0o600) }, []),
      ("a folder", { unsafe mkdir(path, 0o700) }, []), ("nothing", { 0 }, []),
      ("another file", { unsafe link(folder.path + "/other", path) }, ["elsewhere"]),
    ]
    for (what, make, expected) in changes {
      _ = unsafe remove(path)
      #expect(make() == 0)
      #expect(passwords.now.passwords == expected.map { Array($0.utf8) }, "\(what)")
    }
  }
}
