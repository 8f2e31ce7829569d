internal import AllViews
internal import ArgumentParser
internal import Catalogue
internal import FileTrees
internal import Tree
internal import Zip

extension MountOptions {
  /// All options with an effect, except those that are passed to the kernel.
  package static let table: [String: MountOption] = [
    // The shown files.
    "depth": .number("list the views of archives nested up to N deep", 0...64) { $0.depth = $1 },
    "view": .text("the view of a single file to mount", .words(folderViews)) { $0.view = $1 },
    "views": MountOption("list the views of more or fewer extensions", .listing) { options, _, value in
      try options.take(views: value)
    },
    "names": .choice("how listings name converted files", "format", "extension") {
      $0.listing.spelling = $1 == "format" ? .name : .fileExtension
    },
    "charset": MountOption("character set of names in archives", .words(usualCharsets)) { options, name, value in
      guard ZipOptions.knows(charset: value) else {
        throw ValidationError("-o \(name)=\(value): no such character set (list them with: iconv -l)")
      }
      options.zip.charset = value
    },
    "sizes": .choice("whether listings convert files to report their sizes", "exact", "estimated") {
      $0.sizesAreExact = $1 == "exact"
    },
    "players": MountOption("additional programs that play films during the conversion", .free) { options, name, value in
      options.players += try programs(name, value, such: "mpd:jellyfin")
    },
    "copiers": MountOption("additional programs to which real folders list no views, or none", .free) {
      options, name, value in
      let more = try programs(name, value, such: "mytool:othertool, or none")
      guard value == "none" || !more.contains("none") else {
        throw MountOption.refusal(name, value, "names of programs, or none alone")
      }
      options.copiers = value == "none" ? nil : (options.copiers ?? []) + more
    },
    "symlinks": .choice("links that lead out of their archive or server", "all", "inside") {
      $0.zip.showsAllLinks = $1 == "all"
    },
    "damaged": .choice("bytes of compressed files with a wrong checksum", "show", "refuse") {
      $0.zip.showsDamage = $1 == "show"
    },
    "strip": .flag("show the contents of an archive's only folder") { $0.zip.stripsOnlyFolder = true },
    "password_file": MountOption("passwords, one per line", .file) { options, _, value in
      let file = try PasswordFile(at: value)
      options.zip.passwords = try file.passwords()
      options.passwordFile = file
    },

    // Servers.
    "token_file": MountOption("the token of the mounted server", .file) { options, _, value in
      let file = try PasswordFile(at: value, option: "token_file")
      options.server.token = try file.passwords()
      options.server.tokenFile = file
    },
    "ca_file": MountOption("the certificate authorities of the mounted server", .file) { options, name, value in
      options.server.authorities = try ServerAccess.readable(value, name)
    },
    "endpoint": .text("the URL of an S3 server other than that of AWS") { $0.server.endpoint = $1 },
    "region": .text("the region of a bucket of S3") { $0.server.region = $1 },
    "anonymous": .flag("send no credentials to S3") { $0.server.isAnonymous = true },
    "bucket": .choice("which part of URLs the bucket of S3 is", "path", "host") {
      $0.server.hasBucketInPath = $1 == "path"
    },
    "ssh_config": MountOption("the settings of ssh, as its option -F", .file) { options, name, value in
      options.server.sshSettings = try ServerAccess.readable(value, name)
    },
    "offline": .flag("show what is kept of a source elsewhere, without requests") { $0.server.isOffline = true },
    "download": .flag("copy the files of a server that does not send parts of them") { $0.server.downloads = true },
    "wait": .number("seconds to wait for an unavailable server", 1...3600, "1 to 3600 seconds") {
      options, seconds in options.server.wait = seconds
    },

    // Limits.
    "max_ratio": .number("maximum expansion of an entry", 1...Int64.max, "1 or more") { $0.zip.largestRatio = $1 },
    "max_size": .size("maximum size of an entry") { $0.zip.largestSize = $1 },
    "memory": .size("memory for names and caches", 8 << 20...1 << 40, "8M to 1T") { $0.memory = $1 },

    // Conversions.
    "workers": .number("conversions at a time", 1...256) { $0.workers = $1 },
    "converter": .text("the program that converts", .file) { $0.converter = $1 },
    "convert_time": .number("seconds for a conversion", 1...86400, "1 to 86400 seconds") { $0.conversionTime = $1 },
    "convert_memory": .size("memory for a conversion", 64 << 20...Int64.max, "64M or more") {
      $0.conversionMemory = $1
    },
    "ocr": MountOption("languages of recognised text", .languages) { options, name, value in
      guard let languages = ReadingLanguages(value[...]) else {
        throw MountOption.refusal(name, value, "languages as tesseract calls them, such as deu+eng")
      }
      options.languages = languages
    },
    "sandbox": .choice("how strictly to isolate the converter", "strict", "weak") { $0.isSandboxWeak = $1 == "weak" },
    "cache_size": .size("disk space for converted files, and for blocks of files elsewhere") { $0.cacheSize = $1 },
    "shared_cache": MountOption("a folder for converted files that other users share", .file) { options, name, value in
      guard value.hasPrefix("/") else { throw MountOption.refusal(name, value, "an absolute path") }
      options.sharedCache = value
    },
    "index": .choice("when to index documents for searches", "search", "idle") { $0.indexesWhileIdle = $1 == "idle" },
    "source_id": .text("identifies the source's file system in caches") { $0.sourceID = $1 },

    // Owners and permissions.
    "uid": .identity("show this user as the owner of everything", .user) { $0.overrides.owner = $1 },
    "gid": .identity("show this group as the group of everything", .group) { $0.overrides.group = $1 },
    "umask": .bits("permissions to remove, in octal") {
      ($0.overrides.folderMask, $0.overrides.fileMask) = ($1, $1)
    },
    "dmask": .bits("permissions to remove from folders, in octal") { $0.overrides.folderMask = $1 },
    "fmask": .bits("permissions to remove from files, in octal") { $0.overrides.fileMask = $1 },
    "allow_other": .flag("let all users see the mount") { $0.allowsOthers = true },
    "allow_root": .flag("let root see the mount") { $0.allowsRoot = true },

    // The mount.
    "ro": .flag("allow no changes, as without rw") { $0.allowWriting(false) },
    "rw": .flag("allow changes of real files") { if !MountOptions.isFromMount { $0.allowWriting(true) } },
    "writable": .flag("like rw, for /etc/fstab, where mount itself adds rw") { $0.allowWriting(true) },
    "auto_unmount": .flag("unmount even if the program is killed") { $0.unmountsAutomatically = true },
    "supervise": .choice("whether a new process takes over if the current one dies", "on", "off", "unmount") {
      $0.isKept = $1 != "off"
      $0.unmountsIfGivenUp = $1 == "unmount"
    },
    "export": .flag("keep the file handles of NFS servers") { $0.keepsHandles = true },
    "nonempty": .flag("mount over a folder with files in it") { $0.permitsNonempty = true },
    "fsname": .text("the first column of mount and df") { $0.name = $1 },
    "idle": .number("unmount after N seconds without use", 1...86400 * 365, "a number of seconds, 1 or more") {
      $0.idleTime = $1
    },
    "max_threads": .number("threads that answer the kernel", 1...1024) { $0.threads = $1 },
    "subtype": .text("ignored") { _, _ in },
    "comment": .text("ignored") { _, _ in },
    "max_read": .text("ignored") { _, _ in },
    "max_idle_threads": .text("ignored") { _, _ in },
  ]

  /// The names of the views that are directories, as in `-o view=`.
  package static let folderViews = Views.descriptions.compactMap { view -> String? in
    guard view.spelling.hasPrefix("NAME."), view.spelling.hasSuffix("/") else { return nil }
    return String(view.spelling.dropFirst("NAME.".count).dropLast())
  }

  /// Parses names of programs that are joined by colons. Throws a refusal that recommends `example`.
  private static func programs(_ option: String, _ value: String, such example: String) throws -> [String] {
    let names = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy({ !$0.isEmpty && !$0.contains("/") }) else {
      throw MountOption.refusal(option, value, "names of programs without paths, such as \(example)")
    }
    return names
  }

  /// The common character sets of archives that do not specify theirs. `iconv -l` lists all.
  private static let usualCharsets = [
    "Big5", "CP437", "CP737", "CP775", "CP850", "CP852", "CP855", "CP857", "CP862", "CP864", "CP866", "CP932", "CP936",
    "CP949", "CP950", "EUC-JP", "EUC-KR", "GB18030", "KOI8-R", "Shift_JIS", "UTF-8", "windows-1250", "windows-1251",
    "windows-1252",
  ]
}
