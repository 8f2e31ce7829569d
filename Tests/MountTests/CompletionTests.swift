import TestSupport
import Testing

/// `scripts/completions`, in the shells they are for.
@Suite(.timeLimit(.minutes(5))) struct CompletionTests {
  private static let shells = ["bash", "zsh", "fish"]

  /// What is typed before Tab, and what the line is then.
  private static let lines = [
    // Commands, options, files.
    "ffmount ind": "ffmount index ",
    "ffmount doctor --js": "ffmount doctor --json ",
    "ffmount open --pr": "ffmount open --print ",
    "ffmount cache cl": "ffmount cache clear ",
    "ffmount index --conv": "ffmount index --conversions ",
    "ffmount disc": "ffmount discover ",
    "ffmount discover --js": "ffmount discover --json ",
    "ffmount serve --token-f": "ffmount serve --token-file ",
    "ffmount serve --token-file folder/sec": "ffmount serve --token-file folder/secrets ",
    "ffmount serve fol": "ffmount serve folder/",
    "ffmount --cache-s": "ffmount --cache-size ",
    "ffmount arch": #"ffmount archive\ one.zip "#,
    "ffmount index arch": #"ffmount index archive\ one.zip "#,
    "ffmount -f fol": "ffmount -f folder/",
    // The mountpoint is a folder: mnt.txt is none.
    "ffmount folder mn": "ffmount folder mnt/",
    "ffmount -o ro folder mn": "ffmount -o ro folder mnt/",
    // Lists of -o.
    "ffmount -o ro,dep": "ffmount -o ro,depth=",
    "ffmount -o ro,allow_o": "ffmount -o ro,allow_other ",
    "ffmount -oro,nonem": "ffmount -oro,nonempty ",
    "ffmount folder mnt -o sizes=ex": "ffmount folder mnt -o sizes=exact ",
    "ffmount -o ro,sandbox=w": "ffmount -o ro,sandbox=weak ",
    "ffmount -o view=mess": "ffmount -o view=message",
    "ffmount -o views=+docx:-pd": "ffmount -o views=+docx:-pdf ",
    "ffmount -o views=+docx:-compr": "ffmount -o views=+docx:-compressed ",
    "ffmount -o names=e": "ffmount -o names=extension ",
    "ffmount -o uid=nob": "ffmount -o uid=nobody ",
    "ffmount -o gid=nogr": "ffmount -o gid=nogroup ",
    "ffmount -o charset=CP86": "ffmount -o charset=CP86",
    "ffmount -o password_file=folder/sec": "ffmount -o password_file=folder/secrets ",
    #"ffmount -o ro,password_file=my\ o"#: #"ffmount -o ro,password_file=my\ own\ secrets "#,
    // An option that is there already, and one that is none.
    "ffmount -o nonempty,nonem": "ffmount -o nonempty,nonem",
    "ffmount -o frob": "ffmount -o frob",
  ]

  @Test func dashCompletesOptionsThatReplaceCommands() async throws {
    let offered = try await run(MountProcess.binary, "--complete", "-").lines.dropFirst()
    let options = offered.map { $0.prefix { $0 != "\t" } }
    for option in ["-u", "-V", "-o", "-f", "-h", "--help"] {
      #expect(options.count { $0 == option } == 1, "\(offered)")
    }
    #expect(offered.allSatisfy { !$0.hasSuffix("\t") }, "\(offered)")
    #expect(try await run(MountProcess.binary, "--complete", "list", "-").text.contains("-u") == false)
  }

  @Test(
    .enabled(if: MountScratch.has("bash") && MountScratch.has("zsh") && MountScratch.has("fish"), "needs the shells"),
    arguments: shells)
  func tabCompletesCommandsOptionsValuesAndFiles(_ shell: String) async throws {
    try await withScratch { scratch in
      for name in ["archive one.zip", "mnt.txt", "folder/secrets", "my own secrets"] { try scratch.write(name, "x") }
      try scratch.write("mnt/below", "x")
      let mounted = "\(scratch.path)/"
      let lines = Self.lines.merging([
        "ffmount unmount \(mounted)": "ffmount unmount \(scratch.mountpoint) ",
        "ffmount -u \(mounted)": "ffmount -u \(scratch.mountpoint) ",
      ]) { $1 }
      let typed = lines.keys.sorted()
      let package = MountScratch.package
      let words = [MountScratch.python, package + "/Tests/Scripts/complete.py", shell, MountProcess.binary]
      let script = package + "/scripts/completions/ffmount." + shell
      let result = try await withMount(scratch) { _ in
        try await MountChild(words + [script, scratch.source] + typed).wait(atMost: 50)
      }
      #expect(result.errors == "")
      let found = result.lines.map { $0.dropFirst().dropLast() }
      #expect(found.count == typed.count, "\(result.text)")
      for (typed, found) in zip(typed, found) { #expect(found == lines[typed] ?? "", "of \(typed)") }
    }
  }
}
