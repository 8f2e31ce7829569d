internal import Bytes
internal import Files
internal import Glibc
internal import Tree

extension Kind {
  var mode: mode_t {
    switch self {
    case .file: S_IFREG
    case .folder: S_IFDIR
    case .link: S_IFLNK
    case .fifo: S_IFIFO
    case .socket: S_IFSOCK
    case .characterDevice: S_IFCHR
    case .blockDevice: S_IFBLK
    case .unknown: 0
    }
  }
}

extension stat {
  init(_ attributes: Attributes) {
    self.init()
    st_ino = ino_t(attributes.inode)
    st_mode = attributes.kind.mode | mode_t(attributes.permissions)
    st_nlink = nlink_t(attributes.links)
    st_uid = attributes.owner
    st_gid = attributes.group
    st_rdev = dev_t(attributes.device)
    st_size = off_t(attributes.size)
    // The size of the C library's readdir buffer for a directory: a thousand names per request instead of two hundred.
    st_blksize = attributes.kind == .folder ? 256 << 10 : 4096
    st_blocks = blkcnt_t(attributes.allocated)
    st_atim = attributes.accessed.timespec
    st_mtim = attributes.modified.timespec
    st_ctim = attributes.changed.timespec
  }
}
