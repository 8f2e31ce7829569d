import Assembly
import Bytes
import Catalogue
import FileTrees
import FuseLink
import Glibc
import Index
import Jobs
import Tree

/// The checks of `ffmount doctor`, in order of output.
enum Checkup {
  /// Runs all checks. Blocks for some seconds, in which small files are converted.
  static func findings() -> [Finding] {
    // Mounts must be queried before the process has a second thread.
    let (mounts, readers) = RunningMount.withReaders()
    return [versions, device, helper, others, supervisor] + programs + languages + ConversionTrial.findings()
      + cache + [temporary] + deadMounts(mounts + readers)
  }

  private static var versions: Finding {
    var system = utsname()
    _ = unsafe uname(&system)
    let kernel = unsafe withUnsafeBytes(of: &system.release) { unsafe Array($0.prefix { $0 != 0 }) }
    return Finding(
      "versions", .good,
      "\(Version.text), libfuse \(Session.libraryVersion), Linux \(String(decoding: kernel, as: UTF8.self))")
  }

  // MARK: FUSE

  private static var device: Finding {
    guard unsafe access("/dev/fuse", F_OK) == 0 else {
      return Finding(
        "fuse", .bad, "no /dev/fuse: nothing can be mounted (a container needs the device passed in)",
        mend: "sudo modprobe fuse")
    }
    guard unsafe access("/dev/fuse", R_OK | W_OK) == 0 else {
      return Finding(
        "fuse", .bad, "/dev/fuse cannot be opened: \(describe(errno))", mend: "sudo chmod 666 /dev/fuse")
    }
    return Finding("fuse", .good, "/dev/fuse can be opened")
  }

  private static var helper: Finding {
    let isNeeded = geteuid() != 0
    guard let path = Fusermount.path else {
      return Finding(
        "fusermount3", isNeeded ? .bad : .note, "missing: required by -o auto_unmount, and by users other than root",
        lacking: ["fuse3"])
    }
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_uid == 0, status.st_mode & S_ISUID != 0 else {
      return Finding(
        "fusermount3", isNeeded ? .bad : .note, "\(path) is not set-uid root: users cannot mount",
        mend: "sudo chown root \(path) && sudo chmod u+s \(path)")
    }
    let version = Subprocess.run(path, ["--version"])?.text.split(separator: " ").last
    return Finding("fusermount3", .good, "\(path), \(version.map { $0.filter { $0 != "\n" } } ?? "unknown version")")
  }

  private static var others: Finding {
    guard geteuid() != 0, !Mountpoint.permitsOthers else {
      return Finding("allow_other", .good, "mounts can be visible to other users (-o allow_other)")
    }
    return Finding(
      "allow_other", .note, "only root can use -o allow_other: user_allow_other is missing in /etc/fuse.conf",
      mend: "echo user_allow_other | sudo tee -a /etc/fuse.conf")
  }

  private static func deadMounts(_ mounts: [RunningMount]) -> [Finding] {
    mounts.filter { $0.hindrance != nil }.flatMap(findings)
  }

  /// Returns the results for one mount.
  static func findings(_ mount: RunningMount) -> [Finding] {
    let path = mount.entry.mountpoint
    switch mount.state {
    case .dead:
      return [Finding("mount", .bad, "\(path): its daemon has ended", mend: mount.entry.unmountCommand)]
    case .silent:
      return [
        Finding(
          "mount", .bad, "\(path): it does not answer; its source may hang", mend: mount.entry.lazyUnmountCommand)
      ]
    case .closed:
      let objection = mount.objection(toDo: "examine", by: "doctor \(ShellWord.quoted(path))") ?? ""
      return [Finding("mount", .note, "\(path): \(objection)")]
    case .running(let report):
      var findings = [
        Finding(
          "mount", .good,
          "\(path), of \(report.source): answers, for \(Amount.time(report.seconds)), process \(report.process)")
      ]
      if report.version != Version.text {
        findings.append(
          Finding(
            "version", .note, "it is served by \(report.version), and \(Version.text) is installed",
            mend: "ffmount upgrade \(ShellWord.quoted(path))"))
      }
      if Supervision.keeper(of: report.process) == nil {
        findings.append(
          Finding("supervisor", .note, "none: the mount ends when its process crashes (-f, supervise=off)"))
      }
      if !report.work.failures.isEmpty {
        findings.append(
          Finding("conversions", .note, "\(report.work.failures.count) failed", mend: "ffmount status"))
      }
      return findings
    }
  }

  // MARK: Conversion

  /// The programs of all packages. A package that is not installed is only noted, since its views may not be wanted.
  private static var programs: [Finding] {
    let installed = Converter.installed
    // A package alone has the reduced program, and ffconvert has all its conversions.
    let isReduced =
      installed[Converter.reduced] != nil || PackageCommand.isPackaged && installed["ffconvert"] == nil
    let packages = Converter.packages.filter { isReduced || $0.programs != [Converter.reduced] }
    var findings = packages.flatMap { package -> [Finding] in
      let absent = package.programs.filter { OwnPrograms.path(of: $0) == nil }
      return package.programs.map { program in
        finding(program, of: package, isWholeAbsent: absent.count == package.programs.count)
      }
    }
    let checkers = ["ffconvert", Converter.reduced, "ffarchive", "ffoffice", "ffmedia"]
    if let path = checkers.firstNonNil({ OwnPrograms.path(of: $0) }) { findings.append(sandbox(path)) }
    return findings
  }

  private static func finding(
    _ program: String, of package: (name: String, programs: [String], purpose: String), isWholeAbsent: Bool
  ) -> Finding {
    let lacking = Converter.packages(lackingFor: program)
    let path = OwnPrograms.path(of: program)
    if let path, lacking.isEmpty { return Finding(program, .good, path) }
    let purpose = program == Converter.layout ? "office documents as PDF, with LibreOffice" : package.purpose
    if path == nil, PackagedData.folder != nil {
      return Finding(program, .note, "not in this download: for \(purpose)")
    }
    if path != nil { return Finding(program, .note, Converter.lack(of: program), lacking: lacking) }
    if isWholeAbsent {
      return Finding(program, .note, "not installed: for \(purpose)", lacking: lacking)
    }
    if Converter.names.contains(program), !Converter.missing.contains(program) {
      return Finding(program, .note, "missing: another converter is used instead")
    }
    return Finding(
      program, .bad, "missing: \(package.name) is not installed completely", lacking: [package.name])
  }

  private static var supervisor: Finding {
    if Supervision.isPossible { return Finding("ffkeep", .good, "mounts survive a crash of their process") }
    return Finding(
      "ffkeep", .note, "missing: a mount ends when its process crashes", lacking: ["ffmount"])
  }

  /// The languages of recognised text. Empty if no text is recognised.
  private static var languages: [Finding] {
    guard Converter.installed["ffscan"] != nil else { return [] }
    let installed = LocalLanguages.installed
    let lacking = [ReadingLanguages.package(of: LocalLanguages.ofLocale ?? "eng")]
    if installed.isEmpty {
      return [Finding("languages", .note, "no language of recognised text is installed", lacking: lacking)]
    }
    let list = installed.joined(separator: ", ")
    if let own = LocalLanguages.ofLocale, !installed.contains(own) {
      return [Finding("languages", .note, "\(list), but not that of the locale, \(own)", lacking: lacking)]
    }
    return [Finding("languages", .good, list)]
  }

  /// Returns the result of the converter's sandbox check, which attempts what a hostile file might make it do.
  private static func sandbox(_ path: String) -> Finding {
    let temporary = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    guard unsafe access(temporary, W_OK | X_OK) == 0 else {
      return Finding(
        "sandbox", .note, "not checked: cannot create files in \(temporary): \(describe(errno))", mend: nil)
    }
    guard let check = Subprocess.run(path, ["--check-sandbox"]) else {
      return Finding("sandbox", .bad, "\(path) cannot be started: \(describe(errno))")
    }
    let lines = check.text.split(separator: "\n")
    let start = "sandbox: "
    let layers = lines.first { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    if check.status == 0 { return Finding("sandbox", .good, layers ?? "closed") }
    let allowed = lines.filter { $0.hasSuffix(": allowed") }.map { $0.dropLast(": allowed".count) }
    let reason =
      allowed.isEmpty
      ? lines.last.map(String.init) ?? "the check ended with status \(check.status)"
      : "a converter could \(allowed.prefix(3).joined(separator: ", "))"
    return Finding(
      "sandbox", .bad, "\(layers.map { "\($0); " } ?? "")\(reason)",
      mend: "sudo sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0")
  }

  // MARK: Disk space

  private static var cache: [Finding] {
    guard let folder = CacheFolder.path() else {
      return [Finding("cache", .bad, "no folder for files that are kept between mounts", mend: usableCache)]
    }
    if let objection = Index(folder: folder).obstacle {
      let mend = command(in: objection) ?? usableCache
      return [Finding("cache", .bad, "nothing is kept for the next mount: \(objection)", mend: mend)]
    }
    let renditions = Converter.cache(in: folder)?.contents ?? (count: 0, size: 0)
    let size = FolderSize.of(folder)
    return [
      Finding("cache", .good, "\(folder): \(Amount.bytes(size)), including \(renditions.count) converted files"),
      space("cache space", folder, mend: size == 0 ? usableCache : "ffmount cache clear"),
    ]
  }

  /// The command that sets a cache folder outside of the home directory.
  private static let usableCache =
    "export XDG_CACHE_HOME=/var/tmp/cache-$(id -u) && mkdir -p -m 700 \"$XDG_CACHE_HOME\""

  /// Returns the command that a reason ends with, in parentheses.
  private static func command(in reason: String) -> String? {
    let start = [" (chmod ", " (rm "].compactMap { reason.firstRange(of: $0)?.lowerBound }.first
    return start.map { String(reason[$0...].dropFirst(2).dropLast()) }
  }

  private static var temporary: Finding {
    let folder = ShownSource.spoolFolder
    guard unsafe access(folder, W_OK | X_OK) == 0 else {
      return Finding(
        "temp space", .bad, "cannot create files in \(folder): \(describe(errno))",
        mend: "export TMPDIR=" + (folder == "/var/tmp" ? "FOLDER, with a folder that you can write to" : "/var/tmp"))
    }
    return space("temp space", folder, mend: "export TMPDIR=FOLDER, with a folder on a disk that has room")
  }

  /// The free space below which a note is shown, in bytes.
  private static let scarce: Int64 = 1 << 30
  private static let tooLittle: Int64 = 64 << 20

  private static func space(_ name: String, _ folder: String, mend: String) -> Finding {
    var path = folder
    // The directory may not exist yet.
    while path.count > 1, unsafe access(path, F_OK) != 0 {
      path = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/"
      if path.isEmpty { path = "/" }
    }
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return Finding(name, .bad, "\(path): \(describe(errno))") }
    let (bytes, isOver) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int64(clamping: status.f_frsize))
    let free = isOver ? Int64.max : bytes
    let grade: Finding.Grade = free < tooLittle ? .bad : free < scarce ? .note : .good
    return Finding(name, grade, "\(Amount.bytes(free)) free in \(path)", mend: grade == .good ? nil : mend)
  }
}
