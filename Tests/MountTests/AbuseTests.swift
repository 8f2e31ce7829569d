import Foundation
import TestSupport
import Testing

/// The real worker through a real mount, on hostile files. With FFMOUNT_TEST_FULL=1, the tests that take long are run
/// completely.
@Suite(.serialized, .timeLimit(.minutes(45))) struct AbuseTests {

  /// Every `step`th file of a folder of the corpus, all in a full run.
  private static func corpus(_ folder: String, step: Int) -> [String] {
    guard let root = sharedCorpus?.appendingPathComponent(folder).path else {
      skipped("real files of the folder \(folder) need the corpus beside the project")
      return []
    }
    let names = (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []).sorted()
    let kinds = ["pdf", "jpg", "png", "gif", "tif", "tiff", "webp", "heic", "avif", "jp2", "svg"]
    let files = names.filter { kinds.contains(($0 as NSString).pathExtension.lowercased()) }.map { "\(root)/\($0)" }
    return stride(from: 0, to: files.count, by: TestExtent.isFull ? 1 : step).map { files[$0] }
  }

  @Test func maliciousFilesAffectNoOtherReaders() async throws {
    try await withScratch { scratch in
      let files = Self.corpus("pdf", step: 300) + Self.corpus("image", step: 60)
      let words = ["abuse.py", "make", scratch.source, TestExtent.isFull ? "10" : "1"] + files
      let path = MountScratch.package + "/Tests/Scripts/"
      let made = try await MountChild([MountScratch.python, path + words[0]] + words[1...]).wait(atMost: 300)
      #expect(made.status == 0, "\(made.errors)")
      var daemon: Int32 = 0
      try await withConverter(scratch, "workers=2,convert_time=\(TestExtent.isFull ? 10 : 1)") { mount in
        daemon = mount.daemon.pid
        let before = try await MountFootprint(of: daemon)
        // Limits how long others wait only to detect a hang: tests run in parallel.
        let limit = TestExtent.isFull ? "1" : "20"
        let result = try await MountChild(
          [MountScratch.python, path + "abuse.py", "read", mount.mountpoint, "\(daemon)", limit]
        ).wait(atMost: TestExtent.isFull ? 2400 : 100)
        print(result.text)
        #expect(result.status == 0, "\(result.text) \(result.errors)")
        let after = try await MountFootprint(of: daemon)
        // Recently read sources stay open for a while.
        #expect(after.descriptors <= before.descriptors + 60, "\(before), then \(after)")
      }
      let left = try await shell(
        "ls /proc/*/task/$1/children 2>/dev/null; cd \"$2\" && ls", "\(daemon)", scratch.path)
      #expect(left.text == "cache\nmnt\nsource\n")
    }
  }

  /// Noise, for which the AVIF encoder takes long.
  private static let noise = noise(width: 3000, height: 2000)

  private static func noise(width: Int, height: Int) -> String {
    """
    { printf 'P6 \(width) \(height) 255\\n'; head -c \(3 * width * height) /dev/urandom; } > $S/noise.ppm
    cp $T/../../scripts/sample/harbour.png $S/small.png
    # The only worker, once it has been at work for some hundredths of a second, beyond what starting it takes.
    ticks() { w=$(workers) && cut -d' ' -f14 /proc/$w/stat 2>/dev/null || echo 0; }
    before=0
    busy() { for i in $(seq 150); do sleep .04; [ $(ticks) -lt $((before + ${1:-10})) ] || break; done; w=$(workers); }
    # By a process that lists: another's question has the file made.
    why() { python3 -Ic 'import os, sys; os.listdir("."); print(os.getxattr(sys.argv[1], "user.ffmount." + sys.argv[2]).decode())' "$1" "${2:-error}"; }
    """
  }

  @Test func killedOrStoppedWorkerCausesOneError() async throws {
    try await withScratch { scratch in
      try await withConverter(scratch, "workers=1,convert_time=2") { mount in
        let lines = """
          \(Self.noise)
          cat noise.ppm.as-avif > /dev/null & busy; kill -KILL $w; wait $!; why noise.ppm.as-avif
          cat noise.ppm.q30.as-avif > /dev/null & c=$!; busy; kill -STOP $w; ls | wc -l
          wait $c; why noise.ppm.q30.as-avif; ps -o stat= $w
          file -b small.png.as-jpeg | cut -d, -f1
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == """
            cat: noise.ppm.as-avif: Input/output error
            noise.ppm: the converter was killed (SIGKILL)
            3
            cat: noise.ppm.q30.as-avif: Input/output error
            noise.ppm: converting it did not end within 6 s, three times -o convert_time
            JPEG image data

            """)
      }
    }
  }

  @Test func truncationDuringConversionIsReported() async throws {
    // The rest of the file is a different file, which is retried. The image was read with pread; the PDF was mapped, and the
    // resulting SIGBUS is not reported as a crash.
    let images = "cat: noise.ppm.as-png: Input/output error\nnoise.ppm: cannot be decoded\nsame worker\n"
    let documents = "cat: long.pdf.as-txt: Input/output error\nlong.pdf: is not a readable PDF\n"
    for (name, said) in [("noise.ppm.as-png", images), ("long.pdf.as-txt", documents)] {
      try await withScratch { scratch in
        try await withConverter(scratch, "workers=1") { mount in
          let lines = """
            \(Self.noise)
            $T/many_pages.py 20000 > $S/long.pdf; sleep .1; f=\(name)
            before=$(ticks); cat $f > /dev/null & busy 12; kill -STOP $w; s=$S/${f%.as-*}
            truncate -s 8192 $s; kill -CONT $w; wait $!; getfattr --only-values -n user.ffmount.error $f | cut -d: -f1,2 | sed 's, (.*,,'; [ $(workers) = $w ] && echo same worker
            """
          let found = try await mount.shell(lines, scratch)
          #expect(found == said)
          #expect(!mount.daemon.saidSoFar.contains("crash"))
        }
      }
    }
  }

  @Test func tenThousandConcurrentOpensSucceed() async throws {
    try await withScratch { scratch in
      try await withConverter(scratch) { mount in
        let lines = """
          for i in $(seq 1000); do printf 'P5 8 8 255\\n%064d' $i > $S/$i.pgm; done; sleep .1
          python3 $T/many_opens.py . 1000 100 100
          awk '/VmHWM/ { print ($2 <= 102400 ? "small" : $0) }' /proc/$P/status; workers | wc -l
          """
        let said = try await mount.shell(lines, scratch, limit: 100)
        #expect(said == "10000 opens, all the same\nsmall\n2\n")
      }
    }
  }

  /// Calls `body` with a file system of 1 MB.
  private func withSmallDisk(_ scratch: MountScratch, _ body: (String) async throws -> Void) async throws {
    let disk = scratch.path + "/disk"
    let made = try await shell("mkdir $1 && mount -t tmpfs -o size=1m none $1 && mkdir $1/cache", disk)
    guard made.status == 0 else { try Test.cancel("no disk could be mounted: \(made.errors)") }
    do { try await body(disk) } catch {
      _ = try await shell("umount -l $1", disk)
      throw error
    }
    _ = try await shell("umount $1", disk)
  }

  /// The libraries of most workers report a failed write as damaged input.
  @Test(
    .enabled("mounting a small disk needs root") { MountScratch.isRoot },
    .enabled("needs ffmpeg and 7z") { MountScratch.has("ffmpeg") && MountScratch.has("7z") })
  func fullDiskIsNotReportedAsDamagedInput() async throws {
    try await withScratch { scratch in
      try await withSmallDisk(scratch) { disk in
        let full = ["XDG_CACHE_HOME": disk + "/cache", "TMPDIR": disk]
        try await withConverter(scratch, environment: full) { mount in
          let said = try await mount.shell(
            """
            \(Self.noise(width: 600, height: 400))
            $T/many_pages.py 1 2000000 > $S/big.pdf
            q='ffmpeg -v error -nostdin -y'; $q -f lavfi -i anoisesrc=d=20:r=44100 $S/s.wav
            $q -f lavfi -i testsrc2=s=320x240:d=6 -f lavfi -i anoisesrc=d=6 $S/f.mkv
            head -c 3000000 /dev/urandom > $O/r.bin; (cd $O; 7z a -bd $S/x.7z r.bin > log)
            sleep .1; dd if=/dev/zero of=\(disk)/fill bs=4k 2> $O/dd
            for n in noise.ppm.as-jpeg noise.ppm.as-png noise.ppm.as-webp noise.ppm.as-tiff noise.ppm.as-pdf \
              noise.ppm.scan.pdf big.pdf.pages/1.pdf big.pdf.as-jpeg s.wav.as-flac s.wav.as-mp3 s.wav.as-aiff f.mkv.as-mp4 \
              f.mkv.as-webm x.7z.contents/r.bin; do
              a=$(cat $n 2>&1 | wc -c); LC_ALL=C cat $n 2>&1 > $O/made | grep -v 'No space left on device'
              [ $a -gt 10 ] || echo "$n: $a"
            done
            """, scratch, limit: 150)
          #expect(said == "")
          #expect(!mount.daemon.saidSoFar.contains("decoded"))
        }
      }
    }
  }

  @Test(.enabled("mounting a small disk needs root") { MountScratch.isRoot })
  func fullDiskIsToleratedOrReported() async throws {
    try await withScratch { scratch in
      try await withSmallDisk(scratch) { disk in
        let full = ["XDG_CACHE_HOME": disk + "/cache", "TMPDIR": disk]
        try await withConverter(scratch, environment: full) { mount in
          let lines = """
            \(Self.noise)
            $T/many_pages.py 1 70000000 > $S/big.pdf; sleep .1
            cat noise.ppm.as-jpeg | file -b - | cut -d, -f1; cat noise.ppm.as-jpeg | wc -c | grep -c '.......'
            cat small.png.as-jpeg | file -b - | cut -d, -f1
            cat big.pdf.pages/1.pdf | wc -c; why big.pdf.pages/1.pdf
            """
          let said = try await mount.shell(lines, scratch)
          #expect(
            said == """
              JPEG image data
              1
              JPEG image data
              cat: big.pdf.pages/1.pdf: No space left on device
              0
              big.pdf: cannot be written (No space left on device)

              """)
          let line = "big.pdf.pages/1.pdf: cannot be written (No space left on device)\n"
          #expect(mount.daemon.saidSoFar.components(separatedBy: line).count == 2)
        }
      }
    }
  }
}
