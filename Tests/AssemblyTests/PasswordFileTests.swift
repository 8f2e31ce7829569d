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
}
