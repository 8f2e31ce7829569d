public import Bytes
internal import CPosix

extension FileStatus {
  /// When a directory entry was made; nil where the file system does not record it.
  public static func creationTime(of name: FileName, in folder: Int32) throws(Fault) -> Timestamp? {
    var time = Timestamp(seconds: 0)
    let answer = unsafe try name.withCString { (name) throws(Fault) in
      try systemCall("statx") { unsafe ffmount_creation_time(folder, name, &time.seconds, &time.nanoseconds) }
    }
    return answer == 0 ? time : nil
  }
}
