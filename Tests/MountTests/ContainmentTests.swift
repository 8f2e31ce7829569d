import TestSupport
import Testing

/// The sandbox of converters, in a mount.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ContainmentTests {
  private static let fake = MountScratch.package + "/Tests/Scripts/fake_worker.py"

  private func withMount(
    _ scratch: MountScratch, without walls: [String], _ options: String, _ body: (MountProcess) async throws -> Void
  ) async throws {
    let own = ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
    let prefix = walls.isEmpty ? [] : [MountScratch.python, MountScratch.package + "/Tests/Scripts/without.py"] + walls
    try await TestSupport.withMount(
      scratch, options: ["-o", options], prefix: prefix.isEmpty ? [] : prefix + ["--"], environment: own, body)
  }

  private func makePicture(_ scratch: MountScratch) async throws {
    _ = try await shell("cp \"$1\"/scripts/sample/harbour.png \"$2\"/a.png", MountScratch.package, scratch.source)
  }

  /// Missing sandbox layers, and the resulting message.
  static let gaps: [(walls: [String], gap: String)] = [
    (["seccomp"], "no seccomp"), (["landlock", "namespaces"], "neither Landlock nor namespaces"),
  ]

  @Test(.enabled("a kernel is made to lack something by root") { MountScratch.isRoot }, arguments: gaps)
  func conversionRequiresASandbox(_ lack: (walls: [String], gap: String)) async throws {
    try await withScratch { scratch in
      try await makePicture(scratch)
      let lines = """
        cat a.png.as-jpeg | file -b - | cut -d, -f1; getfattr --only-values -n user.ffmount.error a.png.as-jpeg; echo
        """
      try await withMount(scratch, without: lack.walls, "workers=1") { mount in
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == """
            cat: a.png.as-jpeg: Operation not permitted
            empty
            a.png: is not converted, since there is \(lack.gap) here for the sandbox (-o sandbox=weak does without)

            """)
        #expect(mount.daemon.saidSoFar.contains("nothing is converted, since there is \(lack.gap)"))
      }
      try await withMount(scratch, without: lack.walls, "workers=1,sandbox=weak") { mount in
        let said = try await mount.shell(lines, scratch)
        #expect(said.hasPrefix("JPEG image data\n"))
      }
    }
  }

  @Test func cacheIsPrivateRegardlessOfUmask() async throws {
    try await withScratch { scratch in
      try await makePicture(scratch)
      let own = ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
      let prefix = ["/bin/bash", "-c", "umask 0; exec \"$@\"", "bash"]
      try await TestSupport.withMount(scratch, prefix: prefix, environment: own) { mount in
        let lines = """
          cat a.png.as-jpeg >/dev/null; find "$2/cache" -perm /077; find "$2/cache" -type f -size +0 | grep -c .
          """
        let said = try await mount.shell(lines, scratch)
        let count = try #require(Int(said.dropLast()), "\(said)")
        #expect(count > 0)
      }
    }
  }

  @Test(
    .enabled("a kernel is made to lack something by root") { MountScratch.isRoot },
    arguments: ["landlock", "namespaces"])
  func oneOfTwoFileSandboxLayersSuffices(_ wall: String) async throws {
    try await withScratch { scratch in
      try await makePicture(scratch)
      try await withMount(scratch, without: [wall], "workers=1") { mount in
        let said = try await mount.shell("cat a.png.as-jpeg | file -b - | cut -d, -f1", scratch)
        #expect(said == "JPEG image data\n")
      }
    }
  }

  @Test func workersHaveNoPrivilegesAndSeparateNamespaces() async throws {
    try await withScratch { scratch in
      try await makePicture(scratch)
      try await withMount(scratch, without: [], "workers=1") { mount in
        let lines = """
          cat a.png.as-jpeg > /dev/null; w=$(workers)
          grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):' /proc/$w/status | tr -d '0\\n\\t'; echo
          grep -E '^(Uid|Gid|Groups):' /proc/$w/status | grep -cw 0
          for n in pid mnt net ipc uts; do cmp -s <(readlink /proc/$w/ns/$n) <(readlink /proc/$P/ns/$n) && echo $n is shared; done
          ls /proc/$w/root | tr '\\n' ' '
          """
        let said = try await mount.shell(lines, scratch)
        if MountScratch.isRoot {
          #expect(said == "CapInh:CapPrm:CapEff:CapAmb:NoNewPrivs:1Seccomp:2\n0\netc scratch usr var ")
        } else {
          #expect(said.hasPrefix("CapInh:CapPrm:CapEff:CapAmb:NoNewPrivs:1Seccomp:2\n"))
        }
      }
    }
  }

  @Test(.enabled("it takes root to have files of several users") { MountScratch.isRoot })
  func filesOfTwoOwnersNeverShareAWorker() async throws {
    try await withScratch { scratch in
      for name in ["a.png", "b.png", "both/a.png", "both/b.png", "one/a.png"] {
        try scratch.write(name, "echo \(name)")
      }
      _ = try await shell("cd \"$1\" && chown 1001 b.png both/b.png", scratch.source)
      try await withMount(scratch, without: [], "workers=1,converter=\(Self.fake)") { mount in
        let lines = """
          who() { head -n 1 $1 | cut -d' ' -f1; }
          root=$(who a.png.as-jpeg); [ $(who a.png.gray.as-jpeg) = $root ] || echo another for one owner
          other=$(who b.png.as-jpeg); [ $other != $root ] || echo one for two owners
          both=$(who both.merged.pdf); [ $both != $other ] && [ $both != $root ] || echo one for several owners
          next=$(who b.png.gray.as-jpeg); [ $next != $both ] || echo one that has seen several
          [ $(who a.png.q5.as-jpeg) != $next ] || echo one for two owners in the end
          merged=$(who one.merged.pdf); [ $(who a.png.q6.as-jpeg) = $merged ] || echo another for one owner of a folder
          """
        let said = try await mount.shell(lines, scratch)
        #expect(said == "")
      }
    }
  }

  @Test func damagedImagesDoNotAffectLaterConversions() async throws {
    try await withScratch { scratch in
      try await makePicture(scratch)
      let make = """
        import random, sys
        numbers = random.Random(3)
        for index in range(300):
            with open(f"{sys.argv[1]}/._{index}.png", "wb") as file:
                file.write((b"\\x89PNG\\r\\n\\x1a\\n" if index % 2 else b"") + numbers.randbytes(200))
        """
      _ = try await shell("python3 -c \"$1\" \"$2\"", make, scratch.source)
      try await withMount(scratch, without: [], "workers=1,views=+png") { mount in
        let lines = """
          cat ._*.png.as-jpeg 2>&1 | grep -c 'Input/output error'; cat a.png.as-jpeg | file -b - | cut -d, -f1
          ls /proc/$(workers)/fd | wc -l
          """
        let said = try await mount.shell(lines, scratch).split(separator: "\n")
        #expect(said.first == "300" && said.dropFirst().first == "JPEG image data")
        #expect(said.last.flatMap { Int($0) }.map { $0 < 16 } ?? false, "\(said)")
      }
    }
  }

  @Test func workersEndWithTheirDaemon() async throws {
    try await withScratch { scratch in
      let own = ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
      try await TestSupport.withMount(
        scratch, options: ["-o", "workers=1"], environment: own, endsWith: nil
      ) { mount in
        // Noise, for which the AVIF encoder takes long.
        let lines = """
          { printf 'P6 3000 2000 255\\n'; head -c 18000000 /dev/urandom; } > $S/noise.ppm; sleep .1
          cat noise.ppm.as-avif > /dev/null 2>&1 & for i in $(seq 600); do w=$(workers) && break; sleep .05; done
          for i in $(seq 600); do [ $(cut -d' ' -f14 /proc/$w/stat) -gt 20 ] && break; sleep .05; done
          kill -KILL $P; for i in $(seq 600); do [ -d /proc/$w ] || break; sleep .05; done; [ -d /proc/$w ] || echo gone
          """
        let said = try await mount.shell(lines, scratch)
        #expect(said == "gone\n")
      }
    }
  }

  /// A user other than root, with a mount of his own.
  @Test(.enabled("it takes root to be somebody else") { MountScratch.isRoot && MountScratch.has("setpriv") })
  func workersOfAnOrdinaryUserAreSandboxed() async throws {
    try await withScratch { scratch in
      try await makePicture(scratch)
      // Not a private copy of all mounts, which would keep those of other tests in use. If the device is accessible to
      // root only, it is replaced meanwhile. The user who mounts needs a name.
      let lines = """
        cd "$2"; chmod 755 .; chown -R 1:1 .; mknod fuse c 10 229; chmod 666 fuse; mount --bind fuse /dev/fuse
        as="env XDG_CACHE_HOME=$PWD/cache TMPDIR=$PWD HOME=$PWD setpriv --reuid=1 --regid=1 --clear-groups"
        $as "$1" -f -o workers=1 source mnt 2> said & for i in $(seq 600); do mountpoint -q mnt && break; sleep .05; done
        P=$!; $as cat mnt/a.png.as-jpeg | file -b - | cut -d, -f1
        w=$(pgrep -P $P ffconvert); grep -E '^(Cap(Prm|Eff)|NoNewPrivs|Seccomp):' /proc/$w/status | tr -d '0\n\t'; echo
        grep '^Uid:' /proc/$w/status | tr -s '\t' ' '; fusermount3 -u mnt; wait $P; echo $?; grep -o 'namespaces, user 1, landlock' said
        """
      let words = ["unshare", "-m", "--propagation", "slave", "/bin/bash", "-c", lines, "bash", MountProcess.binary]
      let said = try await MountChild(words + [scratch.path]).wait(atMost: 60)
      #expect(
        said.text == """
          JPEG image data
          CapPrm:CapEff:NoNewPrivs:1Seccomp:2
          Uid: 1 1 1 1
          0
          namespaces, user 1, landlock

          """, "\(said.errors)")
    }
  }
}
