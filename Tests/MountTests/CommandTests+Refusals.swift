import Testing

extension CommandTests {
  struct Refusal: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// `S` and `M` stand for the scratch folder's source and mountpoint, `T` for the folder itself.
    let words: [String]
    let status: Int32
    /// The words that the message must contain.
    let says: [String]

    init(_ description: String, _ words: [String], _ status: Int32, _ says: String...) {
      testDescription = description
      self.words = words
      self.status = status
      self.says = says
    }
  }

  static let refusals = [
    Refusal("no arguments", [], 64, "Missing expected argument"),
    Refusal("one argument", ["S"], 64, "mountpoint"),
    Refusal("three arguments", ["S", "M", "T"], 64, "T"),
    Refusal("unknown flag", ["--frobnicate", "S", "M"], 64, "--frobnicate"),
    Refusal("unknown option", ["-o", "frobnicate", "S", "M"], 64, "frobnicate"),
    Refusal("unknown option among known ones", ["-o", "ro,frobnicate=1,uid=1", "S", "M"], 64, "-o frobnicate "),
    Refusal("bad uid", ["-o", "uid=no such user", "S", "M"], 64, "uid=no such user", "number", "name"),
    Refusal("bad gid", ["-o", "gid=no such group", "S", "M"], 64, "gid=no such group", "number", "name"),
    Refusal("another owner of what is changed", ["-o", "rw,uid=1", "S", "M"], 64, "-o rw", "uid="),
    Refusal("another group of what is changed", ["-o", "rw,gid=1", "S", "M"], 64, "-o rw", "gid="),
    Refusal("other permissions of what is changed", ["-o", "rw,umask=022", "S", "M"], 64, "-o rw", "umask="),
    Refusal("value of rw", ["-o", "rw=1", "S", "M"], 64, "rw takes no value"),
    Refusal("no depth", ["-o", "depth", "S", "M"], 64, "-o depth: =N is missing", "number"),
    Refusal("no umask", ["-o", "ro,umask", "S", "M"], 64, "-o umask: =N is missing", "octal"),
    Refusal("no name", ["-o", "fsname", "S", "M"], 64, "-o fsname: =N is missing"),
    Refusal("value of a flag", ["-o", "allow_other=1", "S", "M"], 64, "allow_other takes no value"),
    Refusal("folders to strip", ["-o", "strip=2", "S", "M"], 64, "strip takes no value"),
    Refusal("value of what is ignored", ["-o", "noatime=1", "S", "M"], 64, "noatime takes no value"),
    Refusal("no time to be idle", ["-o", "idle=0", "S", "M"], 64, "idle=0", "1 or more"),
    Refusal("negative gid", ["-o", "gid=-5", "S", "M"], 64, "gid=-5"),
    Refusal("too large uid", ["-o", "uid=4294967296", "S", "M"], 64, "uid=4294967296"),
    Refusal("bad sandbox", ["-o", "sandbox=none", "S", "M"], 64, "sandbox=none", "strict or weak"),
    Refusal("bad sizes", ["-o", "sizes=large", "S", "M"], 64, "sizes=large", "exact or estimated"),
    Refusal("too little memory", ["-o", "memory=7M", "S", "M"], 64, "memory=7M", "8M"),
    Refusal("a player in a folder", ["-o", "players=mpd:/usr/bin/x", "S", "M"], 64, "players=mpd:/usr/bin/x", "mpd:"),
    Refusal("a program in a folder", ["-o", "copiers=/usr/bin/x", "S", "M"], 64, "copiers=/usr/bin/x", "or none"),
    Refusal("a player without a name", ["-o", "players=mpd:", "S", "M"], 64, "players=mpd:", "names of programs"),
    Refusal("bad umask", ["-o", "umask=999", "S", "M"], 64, "umask=999", "octal"),
    Refusal("no threads", ["-o", "max_threads=0", "S", "M"], 64, "max_threads=0"),
    Refusal("no wait", ["-o", "wait=0", "http://h", "M"], 64, "wait=0"),
    Refusal("an option of servers", ["-o", "wait=5", "S", "M"], 64, "for a server"),
    Refusal("a server that is away", ["-o", "depth=1", "http://127.0.0.1:1", "M"], 66, "cannot be reached"),
    Refusal("bad depth", ["-o", "depth=deep", "S", "M"], 64, "depth=deep"),
    Refusal("umask of more than permissions", ["-o", "umask=1000", "S", "M"], 64, "umask=1000", "octal"),
    Refusal("too deep", ["-o", "depth=65", "S", "M"], 64, "depth=65", "64"),
    Refusal("too little memory", ["-o", "convert_memory=63M", "S", "M"], 64, "convert_memory=63M", "64M"),
    Refusal("size past all numbers", ["-o", "cache_size=9223372036854775807K", "S", "M"], 64, "cache_size"),
    Refusal("passwords for a group", ["-o", "password_file=T/group", "S", "M"], 64, "chmod 600 T/group"),
    Refusal("passwords for all", ["-o", "password_file=T/all", "S", "M"], 64, "chmod 600 T/all"),
    Refusal("no password", ["-o", "password_file=T/full/x", "S", "M"], 64, "password_file", "no password"),
    Refusal("no password file", ["-o", "password_file=T/none", "S", "M"], 64, "password_file", "No such file"),
    Refusal("folder of passwords", ["-o", "password_file=T/full", "S", "M"], 64, "password_file", "not a file"),
    Refusal("bad views", ["-o", "views=docx", "S", "M"], 64, "views=docx"),
    Refusal(
      "no views", ["-o", "views=:", "S", "M"], 64, "views=:", "expected all, usual, folders, none, or extensions"),
    Refusal("an empty view", ["-o", "views=+docx:", "S", "M"], 64, "views=+docx:", "expected all, usual"),
    Refusal("an empty list of views", ["-o", "views=", "S", "M"], 64, "-o views: =N is missing", "none"),
    Refusal("an empty name", ["-o", "ro,fsname=,uid=1", "S", "M"], 64, "-o fsname: =N is missing"),
    Refusal("a name of two lines", ["T/no\nthing", "M"], 66, "thing: No such file"),
    Refusal("an empty source", ["", "M"], 66, "cannot show '': No such file"),
    Refusal("an empty mountpoint", ["S", ""], 73, "the path is empty"),
    Refusal("an address of another kind", ["ftp://h", "M"], 66, "an address begins with http://"),
    Refusal("an address without http", ["h:4200", "M"], 66, "give http://h:4200"),
    Refusal("a port that is no number", ["http://h:x", "M"], 64, "'h:x' is not a host and port"),
    Refusal("a quoted home", ["~/x", "M"], 66, "without quotation marks"),
    Refusal("a writable file", ["-o", "rw", "S/good.zip", "M"], 65, "leave out rw"),
    Refusal("a view of a folder", ["-o", "view=all", "S", "M"], 64, "did you mean -o views=all?"),
    Refusal("missing source", ["T/nothing", "M"], 66, "T/nothing", "No such file or directory"),
    Refusal(
      "missing mountpoint", ["S", "T/nothing"], 73, "T/nothing", "No such file or directory", "mkdir -p T/nothing"),
    Refusal("file as mountpoint", ["S", "S/text.txt"], 73, "S/text.txt"),
    Refusal("file elsewhere as mountpoint", ["S", "T/file"], 73, "T/file", "not a folder"),
    Refusal("mountpoint not empty", ["S", "T/full"], 73, "T/full", "not empty", "nonempty"),
    Refusal("mountpoint inside the source", ["S", "S/folder"], 73, "S/folder", "inside the source"),
    Refusal("mountpoint inside the source, by dots", ["S", "S/../source/folder"], 73, "inside the source"),
    Refusal("mountpoint inside the source, by a link", ["S", "T/link/folder"], 73, "inside the source"),
    Refusal("source inside the mountpoint", ["-o", "nonempty", "S", "T"], 73, "S", "inside it"),
    Refusal("source and mountpoint one", ["-o", "nonempty", "S", "S"], 73, "inside"),
    Refusal("source a text", ["S/text.txt", "M"], 65, "S/text.txt", "folder"),
    Refusal("source a broken archive", ["S/broken.zip", "M"], 65, "S/broken.zip", "expected"),
    Refusal("source a fifo", ["S/fifo", "M"], 65, "S/fifo"),
    Refusal("unknown view", ["-o", "view=pages", "S/good.zip", "M"], 65, "S/good.zip"),
    Refusal("misspelt view", ["-o", "view=contnets", "S/good.zip", "M"], 65, "did you mean -o view=contents?"),
    Refusal("source a disk image", ["S/disk.qcow2", "M"], 65, "a QEMU disk image", "guestmount"),
  ]
}
