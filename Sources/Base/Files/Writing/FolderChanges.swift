public import Bytes
internal import CPosix
internal import Glibc

/// Changes of a directory's entries, by its descriptor, which may be O_PATH, and one name. No symbolic link is
/// followed, and nothing outside the directory is reached. All block on the disk.
public enum FolderChanges {
  /// Opens a file with the flags of open(2), and creates it if they require that. Never waits for a FIFO's other end.
  public static func open(
    _ name: FileName, in folder: Int32, flags: Int32, permissions: UInt16 = 0
  ) throws(Fault) -> Descriptor {
    let flags = UInt64(UInt32(bitPattern: flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY))
    let mode = flags & UInt64(O_CREAT) == 0 ? 0 : UInt64(permissions)
    let resolve = ffmount_RESOLVE_BENEATH | ffmount_RESOLVE_NO_SYMLINKS
    return Descriptor(
      owning: unsafe try name.withCString { (name) throws(Fault) in
        try systemCall("openat2") { unsafe ffmount_create(folder, name, flags, mode, resolve) }
      })
  }

  /// Opens a file without a name, which `link` can give it, for reading and writing. Throws an error that
  /// `isLackOfUnnamedFiles` on file systems without such files.
  public static func openUnnamed(in folder: Int32, permissions: UInt16) throws(Fault) -> Descriptor {
    let flags = UInt64(UInt32(bitPattern: ffmount_O_TMPFILE | O_RDWR | O_CLOEXEC))
    return Descriptor(
      owning: try systemCall("openat2") {
        unsafe ffmount_create(folder, ".", flags, UInt64(permissions), ffmount_RESOLVE_BENEATH)
      })
  }

  public static func makeFolder(_ name: FileName, in folder: Int32, permissions: UInt16) throws(Fault) {
    _ = unsafe try name.withCString { (name) throws(Fault) in
      try systemCall("mkdirat") { unsafe mkdirat(folder, name, mode_t(permissions)) }
    }
  }

  /// Creates a file, FIFO, socket or device, like mknod(2).
  public static func makeNode(_ name: FileName, in folder: Int32, mode: UInt32, device: UInt64) throws(Fault) {
    _ = unsafe try name.withCString { (name) throws(Fault) in
      try systemCall("mknodat") { unsafe mknodat(folder, name, mode_t(mode), dev_t(device)) }
    }
  }

  /// Creates a symbolic link to `target`, which is not checked.
  public static func makeLink(_ name: FileName, to target: FileName, in folder: Int32) throws(Fault) {
    _ = unsafe try name.withCString { (name) throws(Fault) in
      unsafe try target.withCString { (target) throws(Fault) in
        try systemCall("symlinkat") { unsafe symlinkat(target, folder, name) }
      }
    }
  }

  /// Creates another name for the file of a descriptor, which may be O_PATH.
  public static func link(_ file: Int32, to name: FileName, in folder: Int32) throws(Fault) {
    let path = ownPath(of: file)
    _ = unsafe try name.withCString { (name) throws(Fault) in
      try systemCall("linkat") { unsafe linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW) }
    }
  }

  /// Removes a name. `isFolder` tells whether it is a directory's.
  public static func remove(_ name: FileName, in folder: Int32, isFolder: Bool) throws(Fault) {
    _ = unsafe try name.withCString { (name) throws(Fault) in
      try systemCall("unlinkat") { unsafe unlinkat(folder, name, isFolder ? AT_REMOVEDIR : 0) }
    }
  }

  /// Renames with the flags of renameat2(2).
  public static func rename(
    _ name: FileName, in folder: Int32, to newName: FileName, in newFolder: Int32, flags: UInt32
  ) throws(Fault) {
    _ = unsafe try name.withCString { (name) throws(Fault) in
      unsafe try newName.withCString { (newName) throws(Fault) in
        try systemCall("renameat2") { unsafe ffmount_rename(folder, name, newFolder, newName, flags) }
      }
    }
  }
}

/// Returns the path by which this process reaches the file of its descriptor, even if the file's name has changed.
func ownPath(of descriptor: Int32) -> [CChar] { "/proc/self/fd/\(descriptor)".utf8.map { CChar($0) } + [0] }
