import Bytes
import Testing

@testable import ffserve

@Suite struct UserFileTests {
  private static let token = "sha256:" + String(repeating: "0aF9", count: 16)

  @Test func accountsAreRead() throws {
    let file = try UserFile(
      "# users\n\nanna \(Self.token) write:/ until=2027-01-31\r\n\tbob.b-1@x_y \(Self.token) read:/a%20b drop:/in read+drop:/c\n"
    )
    let accounts = file.accounts.map(\.account)
    #expect(accounts.map(\.name) == ["anna", "bob.b-1@x_y"] && file.accounts.map(\.line) == [2, 3])
    #expect(accounts[0].until == 1_801_440_000 && accounts[1].until == nil)
    #expect(accounts[0].rights(at: ["a"]) == .write && accounts[0].rights(at: [] as [FileName]) == .write)
    #expect(accounts[1].rights(at: ["a b", "c"]) == .read && accounts[1].rights(at: ["a bc"]) == [])
    #expect(accounts[1].rights(at: ["in"]) == .drop && accounts[1].rights(at: ["c", "d"]) == [.read, .drop])
    #expect(accounts[1].leads(to: [] as [FileName]) && !accounts[1].leads(to: ["d"]))
  }

  @Test(arguments: [
    "anna", "anna ", "-anna \(token)", "an/na \(token)", "än \(token)",
    "\(String(repeating: "a", count: 65)) \(token)",
    "anna sha256:", "anna sha256:\(String(repeating: "0", count: 63))",
    "anna sha256:\(String(repeating: "0", count: 65))",
    "anna sha256:\(String(repeating: "g", count: 64))", "anna password", "anna *", "anna ! read:/",
    "anna \(token) read:",
    "anna \(token) read", "anna \(token) all:/", "anna \(token) read:a", "anna \(token) read:/..",
    "anna \(token) read:/a%2Fb",
    "anna \(token) read:/%", "anna \(token) read+:/", "anna \(token) :/", "anna \(token) until=",
    "anna \(token) until=tomorrow",
    "anna \(token) until=2027-13-01", "anna \(token) until=2027-00-01", "anna \(token) until=2027-01-00",
    "anna \(token) until=2027-01-32",
    "anna \(token) until=27-01-01", "anna \(token) until=2027-01-01T12:00:00",
    "anna \(token) until=2027-01-01T24:00:00Z",
    "anna \(token) until=2027-01-01T12:60:00Z", "anna \(token) until=2027-01-01Z", "anna \(token) Until=2027-01-01",
    "anna \(token) until=2027-02-29", "anna \(token) until=2027-04-31", "anna \(token) until=2027-02-30T10:00:00Z",
    "anna \(token) opens=5", "anna \(token) by=bob opens=0", "anna \(token) by=bob opens=+5",
    "anna \(token) by=bob opens=-1", "anna \(token) by=bob opens=", "anna \(token) by=bob opens=99999999999999999999",
    "anna \(token) by=", "anna \(token) by=a/b", "anna \(token) by=b\u{f6}b", "anna \(token) root=a",
    "anna \(token)\nanna \(token)",
  ])
  func malformedLineIsRefused(_ line: String) {
    #expect(throws: UserFile.Failure.self) { try UserFile(line) }
    #expect(throws: UserFile.Failure.self) { try UserFile("bob \(Self.token) read:/\n" + line + "\n") }
  }

  @Test func accountsEndInTime() throws {
    let hash = try #require(PasswordHash.made(of: Array("word".utf8)))
    let file = try UserFile(
      "# first\r\nanna \(Self.token) read:/ until=2027-01-01T12:00:00Z\r\nbob \(hash) read:/ until=2027-01-01\r\n")
    let accounts = Accounts(file.accounts.map(\.account) + [.owner(token: "secret")])
    let (noon, midnight): (Int64, Int64) = (1_798_804_800, 1_798_848_000)
    #expect(file.accounts.map(\.account.until) == [noon, midnight])
    let bob = try #require(accounts.account(name: "bob", at: midnight - 1))
    #expect(accounts.account(name: "bob", at: midnight) == nil && accounts.account(name: "anna", at: 0) == nil)
    let pass = try #require(bob.pass)
    #expect(accounts.account(pass: pass.hexadecimal.utf8, at: midnight - 1) === bob)
    #expect(accounts.account(pass: pass.hexadecimal.utf8, at: midnight) == nil)
    #expect(accounts.account(token: Array("secret".utf8), at: .max) != nil)
    #expect(accounts.account(token: Array("Secret".utf8), at: 0) == nil && accounts.open(at: 0) == nil)
    #expect(accounts.account(token: pass.digest, at: 0) == nil && accounts.account(pass: "secret".utf8, at: 0) == nil)
  }

  @Test func lineOfAnAccountIsReplaced() throws {
    var file = try UserFile("# first\nanna \(Self.token) read:/\n# last")
    #expect(
      try file.set("anna", "anna \(Self.token) write:/") && file.text == "# first\nanna \(Self.token) write:/\n# last\n"
    )
    #expect(try !file.set("bob", "bob \(Self.token)") && file.accounts.map(\.account.name) == ["anna", "bob"])
    #expect(throws: UserFile.Failure.self) { try file.set("bob", "anna \(Self.token)") }
    #expect(try file.set("anna", nil) && file.text == "# first\n# last\nbob \(Self.token)\n" && !file.set("anna", nil))
  }
}
