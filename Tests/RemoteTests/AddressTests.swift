import Assembly
import Testing

@testable import ffremote

/// The addresses of sources elsewhere, which may come from another program.
@Suite struct AddressTests {
  @Test(arguments: [
    ("http://host", "http://host", "/", true), ("https://host:4200/", "https://host:4200", "/", true),
    ("http://[::1]:4200/a/b", "http://[::1]:4200/a/b", "/a/b/", false),
    ("http://[fe80::1%eth0]/a/", "http://[fe80::1%eth0]/a", "/a/", true),
    ("https://my-host_1.example/a%20b/..c//", "https://my-host_1.example/a%20b/..c", "/a%20b/..c/", true),
  ])
  func addressesOfServersAreRead(_ given: String, _ text: String, _ path: String, _ isFolder: Bool) throws {
    let address = try ServerAddress(given)
    #expect(address.text == text && address.folderPath == Array(path.utf8) && address.isFolder == isFolder)
    #expect(address.isTLS == given.hasPrefix("https") && address.query.isEmpty)
  }

  @Test(arguments: [
    "http://", "http:///a", "http://user@host", "http://user:secret@host", "http://host:0", "http://host:65536",
    "http://host:", "http://host:x",
    "http://host:80:80", "http://ho st", "http://höst", "http://[::1", "http://[host]", "http://[1.2.3.4]",
    "http://host/a b", "http://host/ä",
    "http://host/\u{7f}", "http://host/a\\b", "http://host/../a", "http://host/a/..", "http://host/a#b",
    "http://host?token=x",
    "http://host/a?b", "http://host/\n", "http://-;x/", "http://host/" + String(repeating: "a", count: 8192),
  ])
  func otherAddressesAreRefused(_ given: String) {
    #expect(throws: Refusal.self) { try ServerAddress(given) }
  }

  @Test func filesCanHaveAQuery() throws {
    let address = try ServerAddress("https://host/a/b.zip?X-Sig=a%2Fb&c=d/../e", hasQuery: true)
    #expect(address.text == "https://host/a/b.zip" && address.query == "?X-Sig=a%2Fb&c=d/../e" && !address.isFolder)
    for given in [
      "https://host?a", "https://host/?a", "https://host/a?b#c", "https://host/a?b c", "https://host/a?ä",
      "https://a@host/a?b",
    ] {
      #expect(throws: Refusal.self, "\(given)") { try ServerAddress(given, hasQuery: true) }
    }
    // What is refused may be secret.
    do { _ = try ServerAddress("https://user:secret@host/a?secret") } catch let refusal as Refusal {
      #expect(!refusal.sentence.contains("secret@") && !refusal.sentence.contains("?secret"))
    }
  }

  @Test(
    arguments: [
      ("sftp://host", "", ["host"]), ("sftp://me@host:2222/a/b//", "/a/b", ["-l", "me", "-p", "2222", "host"]),
      ("sftp://host/~", ".", ["host"]), ("sftp://host/~/", ".", ["host"]), ("sftp://host/~/a%20b", "./a b", ["host"]),
      ("sftp://host/~a", "/~a", ["host"]),
      ("sftp://[::1]:22/a", "/a", ["-p", "22", "::1"]), ("sftp://me@[fe80::1%eth0]", "", ["-l", "me", "fe80::1%eth0"]),
    ] as [(String, String, [String])])
  func addressesOfSSHAreRead(_ given: String, _ path: String, _ words: [String]) throws {
    let address: SFTPAddress
    do { address = try SFTPAddress(given, MountOptions([]).server) } catch let refusal as Refusal
      where refusal.sentence.contains("not installed")
    { try Test.cancel("ssh is not installed") }
    #expect(String(decoding: address.path, as: UTF8.self) == path)
    // The host follows the end of the options, and is one word.
    #expect(address.command.suffix(3) == ["--", words.last ?? "", "sftp"] && address.command.contains("-s"))
    let options = words.dropLast()
    #expect(options.allSatisfy(address.command.contains))
    #expect(
      address.command.contains("-l") == options.contains("-l")
        && address.command.contains("-p") == options.contains("-p"))
    // Nothing of this machine is offered to the other one, and ssh asks nothing.
    for word in [
      "-oBatchMode=yes", "-oClearAllForwardings=yes", "-oForwardAgent=no", "-oForwardX11=no", "-oPermitLocalCommand=no",
      "-oRequestTTY=no",
    ] {
      #expect(address.command.contains(word))
    }
  }

  @Test(arguments: [
    "sftp://", "sftp:///a", "sftp://-oProxyCommand=x", "sftp://-host/a", "sftp://me@-host", "sftp://-l@host",
    "sftp://me:secret@host",
    "sftp://a b@host", "sftp://me;x@host", "sftp://ho st/a", "sftp://host;x", "sftp://$(x)", "sftp://host:0",
    "sftp://host:65536", "sftp://host:x",
    "sftp://host:", "sftp://host:22x", "sftp://[::1", "sftp://[host]", "sftp://[::1]x", "sftp://[::1%a b]",
    "sftp://[::1%;]", "sftp://host/a%00b",
    "sftp://host/a%0Ab", "sftp://host/%", "sftp://host/%zz", "sftp://host/" + String(repeating: "a", count: 4096),
    "sftp://@host",
  ])
  func otherAddressesOfSSHAreRefused(_ given: String) {
    do {
      _ = try SFTPAddress(given, MountOptions([]).server)
      Issue.record("\(given) is accepted")
    } catch let refusal as Refusal {
      #expect(refusal.sentence.hasPrefix("cannot show the server: "), "\(given): \(refusal.sentence)")
      #expect(!refusal.sentence.contains("secret"))
    } catch { Issue.record(error) }
  }
}
