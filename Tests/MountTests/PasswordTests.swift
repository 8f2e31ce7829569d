import Foundation
import TestSupport
import Testing

/// Passwords that users give to a running mount.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: MountScratch.has("zip"), "needs zip"))
struct PasswordTests {
  /// Must appear nowhere.
  private static let (right, wrong) = ("rosebud for-nobody", "xanadu for-nobody")

  /// Runs ffmount on a terminal. Returns everything that the terminal showed, as `on_terminal.py` prints it.
  private func onTerminal(_ answers: [String], _ words: String..., environment: [String: String] = [:]) async throws
    -> String
  {
    let program = MountScratch.package + "/Tests/Scripts/on_terminal.py"
    let said = try await MountChild(
      [MountScratch.python, program, MountProcess.binary] + words,
      environment: ["ANSWERS": answers.joined(separator: "\n")].merging(environment) { own, _ in own }
    ).wait(atMost: 50)
    #expect(said.status == 0, "\(said.errors)")
    #expect(!said.text.contains(Self.right) && !said.text.contains("seen"), "\(said.text)")
    return said.text
  }

  /// Makes `source/a.zip`, encrypted, and `source/plain.zip`.
  private func fill(_ scratch: MountScratch) async throws {
    let made = try await shell(
      """
      cd "$1"; echo inside > in.txt; zip -q -P "$2" source/a.zip in.txt; zip -q source/plain.zip in.txt
      """, scratch.path, Self.right)
    try #require(made.status == 0, "\(made.errors)")
  }

  @Test func passwordIsAskedForOnATerminal() async throws {
    try await withScratch { scratch in
      try await fill(scratch)
      let (mnt, cache) = (scratch.mountpoint, ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path])
      try await withMount(scratch, environment: cache) { mount in
        let read = "cat \"$1/a.zip.contents/in.txt\" 2>&1"
        #expect(try await shell(read, mnt).text.hasSuffix("Permission denied\n"))
        for (answers, says, status) in [
          ([""], "Password for \(mnt)/a.zip: \nffmount: cannot unlock \(mnt)/a.zip: no password given\n", 1),
          (["^C"], "Password for \(mnt)/a.zip: ", -2),
          (
            [Self.wrong, "no-such-word-1", "no-such-word-2"],
            "Password for \(mnt)/a.zip: \nWrong. Password for \(mnt)/a.zip: \nWrong. Password for \(mnt)/a.zip: \n"
              + "ffmount: cannot unlock \(mnt)/a.zip: none of the passwords opens it\n", 1
          ),
        ] {
          let said = try await onTerminal(answers, "unlock", mnt + "/a.zip")
          // An interruption ends the line, too, if the terminal shows it.
          let end = "echo on\nstatus \(status)\n"
          #expect([says + end, says + "\n" + end].contains(said), "\(said)")
          #expect(try await shell(read, mnt).text.hasSuffix("Permission denied\n"))
        }
        let said = try await onTerminal([Self.wrong, Self.right], "unlock", mnt + "/a.zip")
        #expect(
          said == """
            Password for \(mnt)/a.zip:\(" ")
            Wrong. Password for \(mnt)/a.zip:\(" ")
            \(mnt)/a.zip can be read until \(mnt) is unmounted.
            echo on
            status 0

            """, "\(said)")
        #expect(try await shell(read, mnt).text == "inside\n")
        // Nothing is asked for in vain. Of a folder, it is not known which files need a password.
        for name in ["/a.zip", "/plain.zip", "/a.zip.contents/in.txt"] {
          let none = try await onTerminal([], "unlock", mnt + name)
          #expect(none.contains("no file in it requires another password"), "\(none)")
        }
        let folder = try await onTerminal([Self.wrong], "unlock", mnt)
        #expect(folder.contains("The password is tried on encrypted files until \(mnt) is unmounted."), "\(folder)")
        let stored = try await shell(
          "grep -rl -e \"$2\" -e \"$3\" \"$1\" --exclude-dir=mnt", scratch.path, Self.right, Self.wrong)
        #expect(stored.text == "", "\(stored.text)")
        #expect(!mount.daemon.saidSoFar.contains(Self.right))
      }
      // It ends with the mount.
      try await withMount(scratch, environment: cache) { (mount) async throws in
        #expect(try await shell("cat \"$1/a.zip.contents/in.txt\" 2>&1", mnt).text.hasSuffix("Permission denied\n"))
      }
    }
  }

  @Test func passwordIsReadFromAPipe() async throws {
    try await withScratch { scratch in
      try await fill(scratch)
      try await withMount(scratch) { mount in
        let lines = """
          unlock() { printf "$1" | "$B" unlock --stdin "$M/$2" 2>&1; echo "status $?"; }; B=$1 M=$2
          unlock '\(Self.wrong)\\n' a.zip; unlock '' a.zip; unlock '%0300d' a.zip; unlock 'a\\0b' a.zip
          unlock '\(Self.right)\\r\\n' a.zip.contents; cat "$M/a.zip.contents/in.txt"; unlock x /etc
          "$B" unlock "$M" 2>&1 </dev/null
          """
        let said = try await shell(lines, MountProcess.binary, mount.mountpoint).text
        let path = mount.mountpoint + "/a.zip"
        let size = "a password has 1 to 234 bytes, and no NUL (a longer one: -o password_file=FILE)"
        #expect(
          said == """
            ffmount: cannot unlock \(path): the password does not open it
            status 1
            ffmount: cannot unlock \(path): \(size)
            status 1
            ffmount: cannot unlock \(path): \(size)
            status 1
            ffmount: cannot unlock \(path): \(size)
            status 1
            \(path).contents can be read until \(mount.mountpoint) is unmounted.
            status 0
            inside
            ffmount: cannot unlock \(mount.mountpoint)//etc: No such file or directory (check the path)
            status 66
            ffmount: cannot ask for a password: no terminal, and no desktop with zenity or kdialog (use --stdin, or \
            mount with -o password_file=FILE)

            """, "\(said)")
      }
    }
  }

  /// A search that ends before it has opened all files does not say that none is locked.
  @Test func passwordIsTakenForMoreFilesThanAreSearched() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        "cd \"$1\"; touch $(seq 600); zip -q source/many.zip $(seq 600); zip -q source/few.zip 1 2", scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let lines =
          "for name in few.zip many.zip many.zip.contents; do echo x | \"$1\" unlock --stdin \"$2/$name\" 2>&1; done"
        let said = try await shell(lines, MountProcess.binary, mount.mountpoint).text
        let tried = "The password is tried on encrypted files until \(mount.mountpoint) is unmounted.\n"
        #expect(
          said == "ffmount: cannot unlock \(mount.mountpoint)/few.zip: no file in it requires another password\n"
            + tried + tried, "\(said)")
      }
    }
  }

  /// A PDF, whose root cannot be read without a password, and archives, which list their files.
  @Test(.enabled(if: MountScratch.has("qpdf") && MountScratch.has("7z"), "needs qpdf and 7z"))
  func mountedFileAsksForItsPassword() async throws {
    try await withScratch { scratch in
      try await fill(scratch)
      try await script("make_documents.py", scratch.source)
      let made = try await shell(
        """
        cd "$1/source"; qpdf report.pdf --encrypt "$2" owner 256 -- secret.pdf
        7z a -bd "-p$2" locked.7z ../in.txt > /dev/null
        """, scratch.path, Self.right)
      try #require(made.status == 0, "\(made.errors)")
      let mnt = scratch.mountpoint
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
      defer { MountProcess.unmount(mnt) }
      for (name, file) in [("a.zip", "in.txt"), ("locked.7z", "in.txt"), ("secret.pdf", "002.pdf")] {
        let said = try await onTerminal(
          [Self.wrong, Self.right], scratch.source + "/" + name, mnt, environment: environment)
        let question = "Password for \(scratch.source)/\(name): \n"
        #expect(said == "\(question)Wrong. \(question)echo on\nstatus 0\n", "\(said)")
        let read = try await shell("ls \"$1\"; wc -c < \"$1/$2\"", mnt, file)
        #expect(read.lines.contains(file) && read.errors == "", "\(read.text)\(read.errors)")
        await offThread { MountProcess.unmount(mnt) }
      }
      // Without an answer the file is mounted, and the command that unlocks it is named.
      let unanswered = try await onTerminal([""], scratch.source + "/secret.pdf", mnt, environment: environment)
      #expect(
        unanswered.contains(
          "ffmount: \(scratch.source)/secret.pdf requires a password (type: ffmount unlock \(mnt))\necho on\nstatus 0"),
        "\(unanswered)")
      #expect(try await run("ls", mnt).errors.contains("Permission denied"))
      let why = try await run(MountProcess.binary, "why", mnt)
      #expect(why.text.contains("ffmount unlock \(mnt)"), "\(why.text)\(why.errors)")
      let given = try await shell("echo \"$3\" | \"$1\" unlock --stdin \"$2\"", MountProcess.binary, mnt, Self.right)
      #expect(given.status == 0, "\(given.errors)")
      #expect(try await run("ls", mnt).lines.contains("002.pdf"))
      await offThread { MountProcess.unmount(mnt) }
      // Nobody is there to be asked.
      for name in ["secret.pdf", "a.zip", "locked.7z"] {
        let silent = try await MountChild(
          [MountProcess.binary, scratch.source + "/" + name, mnt], environment: environment
        ).wait(atMost: 20)
        let isTold = silent.errors.contains("type: ffmount unlock \(mnt)")
        #expect(silent.status == 0 && isTold, "\(name) \(silent.errors)")
        await offThread { MountProcess.unmount(mnt) }
      }
    }
  }

  /// On a desktop without a terminal.
  @Test(arguments: ["zenity", "kdialog"]) func passwordIsAskedForByADialog(_ program: String) async throws {
    try await withScratch { scratch in
      try await fill(scratch)
      let made = try await shell(
        """
        cd "$1"; mkdir -p -m 700 run bin; mv source/a.zip 'source/a_b <i>.zip'
        for p in zenity kdialog; do cat > bin/$p <<'END'
        #!/bin/sh
        echo "a warning of the toolkit" >&2
        printf '%s\\n' "${0##*/}" "$@" >> "${0%/*}/../asked"; [ -e "${0%/*}/../cancels" ] && exit 1
        if [ -e "${0%/*}/../once" ]; then printf '%s\\n' "$PASSWORD"; else touch "${0%/*}/../once"; echo wrong; fi
        END
        chmod +x bin/$p; done
        """, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let environment = [
        "XDG_RUNTIME_DIR": scratch.path + "/run", "DISPLAY": ":99", "PATH": scratch.path + "/bin:/usr/bin:/bin",
        "XDG_CURRENT_DESKTOP": program == "kdialog" ? "KDE" : "GNOME", "PASSWORD": Self.right,
        "XDG_CACHE_HOME": scratch.path + "/cache",
      ]
      let archive = scratch.source + "/a_b <i>.zip"
      let folder = scratch.path + "/run/ffmount/a_b <i>.zip"
      defer { MountProcess.unmount(folder) }
      let opened = try await MountChild([MountProcess.binary, "open", "--print", archive], environment: environment)
        .wait(atMost: 20)
      #expect(opened.status == 0 && opened.text == folder + "\n" && opened.errors == "", "\(opened.errors)")
      #expect(try await run("cat", folder + "/in.txt").text == "inside\n")
      // The labels of both toolkits interpret text.
      let source = "\(scratch.source)/a_b "
      let asked = try await run("cat", scratch.path + "/asked").lines
      #expect(
        asked
          == ["", "Wrong. "].flatMap { start in
            program == "zenity"
              ? [
                "zenity", "--title=ffmount", "--entry", "--hide-text",
                "--text=\(start)Password for \(source.replacing("_", with: "__"))<i>.zip:",
              ]
              : ["kdialog", "--title", "ffmount", "--password", "\(start)Password for \(source)\u{2039}i>.zip:"]
          }, "\(asked)")
      await offThread { MountProcess.unmount(folder) }
      // The folder is shown anyway.
      _ = try await shell("touch \"$1/cancels\"", scratch.path)
      let cancelled = try await MountChild([MountProcess.binary, "open", "--print", archive], environment: environment)
        .wait(atMost: 20)
      #expect(cancelled.status == 0 && cancelled.text == folder + "\n", "\(cancelled.errors)")
      #expect(cancelled.errors.contains("requires a password (type: ffmount unlock '"), "\(cancelled.errors)")
      await offThread { MountProcess.unmount(folder) }
      // An empty line is no password, and ends the questions.
      _ = try await shell("rm \"$1/cancels\" \"$1/asked\"", scratch.path)
      let empty = try await MountChild(
        [MountProcess.binary, "open", "--print", archive], environment: environment.merging(["PASSWORD": ""]) { $1 }
      ).wait(atMost: 20)
      #expect(empty.status == 0 && empty.errors == cancelled.errors, "\(empty.errors)")
      #expect(try await run("grep", "-c", "Password for", scratch.path + "/asked").text == "1\n")
    }
  }

  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func onlyTheUserCanUnlockAMount() async throws {
    try await withScratch { scratch in
      try await fill(scratch)
      let lines = """
        cd "$1"; chmod 755 . source; chmod 644 source/*; cp "$2" ffmount; chmod 755 ffmount; export HOME=$1
        as() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@" 2>&1; }
        as ./ffmount --version || exit 90
        ./ffmount -o allow_other source mnt 2>/dev/null || exit 91
        echo '\(Self.right)' | as ./ffmount unlock --stdin mnt/a.zip; echo "status $?"
        as /usr/bin/python3 -c 'import os; os.getxattr("mnt", "user.ffmount.unlock.\(Self.right)")' | tail -n 1
        as cat mnt/a.zip.contents/in.txt
        echo '\(Self.right)' | ./ffmount unlock --stdin mnt/a.zip; as cat mnt/a.zip.contents/in.txt; ./ffmount -u mnt
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary)
      await offThread { MountProcess.unmount(scratch.mountpoint) }
      if [90, 91].contains(said.status) { try Test.cancel("another user may not run or mount here: \(said.text)") }
      #expect(
        said.lines.dropFirst() == [
          "ffmount: cannot unlock mnt/a.zip: mounted by another user (only that user and root can unlock it)",
          "status 1", "OSError: [Errno 61] No data available: 'mnt'",
          "cat: mnt/a.zip.contents/in.txt: Permission denied",
          "mnt/a.zip can be read until \(scratch.mountpoint) is unmounted.", "inside",
        ], "\(said.text)\(said.errors)")
    }
  }
}
