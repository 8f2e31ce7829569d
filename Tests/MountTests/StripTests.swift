import TestSupport
import Testing

/// Archives with one folder at their top.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StripTests {
  @Test func stripReplacesSingleDirectoryByItsContent() async throws {
    try await withScratch { scratch in
      let make = """
        cd "$1" && mkdir -p top/in __MACOSX two/a two/b && echo x >top/in/x && echo y >__MACOSX/y && ln -s ../y top/in/stays \
        && ln -s ../../top/in/x top/in/leaves && ln -s in/x top/down && echo y >top/y
        zip -qry s.zip top __MACOSX && tar cf s.tar top && (cd two && zip -qr ../two.zip a b) && rm -r top __MACOSX two
        """
      let made = try await shell(make, scratch.source)
      #expect(made.status == 0, "\(made.errors)")
      try await withMount(scratch, options: ["-o", "strip"]) { mount in
        let lines = """
          cd "$1"; for a in s.zip s.tar; do (cd $a.contents && ls && ls top; cat down in/stays in/x; cat in/leaves; echo
          find . -type l | sort; stat -c %i in | cmp - <(sleep 0.1; ls -id in | cut -d' ' -f1)); done 2>&1; ls two.zip.contents
          """
        let shown = try await shell(lines, mount.mountpoint)
        let one = """
          down
          in
          y
          ls: cannot access 'top': No such file or directory
          x
          y
          x
          ../../top/in/x
          ./down
          ./in/stays

          """
        #expect(shown.text == one + one + "a\nb\n", "\(shown.text)")
      }
    }
  }
}
