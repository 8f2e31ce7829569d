internal import Catalogue
internal import FileTrees
internal import Glibc

/// A format of containers that ffmount does not show, and the program that does.
package struct ForeignFormat: Sendable {
  /// The name, with an article.
  package let name: String
  /// The command that shows or unpacks a file, with its package in parentheses, or how to install what does.
  package private(set) var command: String
  /// The bytes that identify the format, and their offset.
  private let mark: [UInt8]
  private let offset: Int

  private init(_ name: String, _ mark: [UInt8], at offset: Int = 0, _ command: String) {
    self.name = name
    self.mark = mark
    self.offset = offset
    self.command = command
  }

  private init(_ name: String, _ mark: String, at offset: Int = 0, _ command: String) {
    self.init(name, Array(mark.utf8), at: offset, command)
  }

  /// The size of the part of a file that is examined, in bytes.
  private static let examined = 33 << 10

  /// Returns the format of a file by its first bytes. Returns `nil` if it is none of these. Blocks.
  package init?(of path: String) {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var head = [UInt8](repeating: 0, count: Self.examined)
    let count = unsafe pread(file, &head, head.count, 0)
    guard count > 0 else { return nil }
    self.init(startingWith: head[..<count])
    let format = DiskFormat.detect(size: nil) { (offset, count) throws(Never) in
      Array(head.dropFirst(Int(offset)).prefix(count))
    }
    guard format != nil else { return }
    if Converter.installed[Converter.disk] != nil { return nil }
    command = Converter.remedy([Converter.disk])
  }

  /// Returns the format of a file that starts with these bytes. Returns `nil` if it is none of these.
  package init?(startingWith head: ArraySlice<UInt8>) {
    guard let known = Self.all.first(where: { head.dropFirst($0.offset).starts(with: $0.mark) }) else { return nil }
    self = known
  }

  private static let images = "guestmount -a FILE -i --ro FOLDER (package guestmount)"
  private static let loop = "sudo mount -o loop,ro FILE FOLDER"

  private static let all = [
    ForeignFormat("a SquashFS image", "hsqs", "squashfuse FILE FOLDER (package squashfuse)"),
    ForeignFormat("a SquashFS image", "sqsh", "squashfuse FILE FOLDER (package squashfuse)"),
    ForeignFormat("a lzop file", [0x89, 0x4c, 0x5a, 0x4f, 0, 0x0d, 0x0a, 0x1a, 0x0a], "lzop -d FILE (package lzop)"),
    ForeignFormat("a lrzip file", "LRZI", "lrzip -d FILE (package lrzip)"),
    ForeignFormat("a QEMU disk image (qcow2)", [0x51, 0x46, 0x49, 0xfb], images),
    ForeignFormat("a VMware disk image", "KDMV", images),
    ForeignFormat("a VirtualBox disk image", [0x7f, 0x10, 0xda, 0xbe], at: 0x40, images),
    ForeignFormat("a Hyper-V disk image", "vhdxfile", images),
    ForeignFormat("a Windows image (WIM)", "MSWIM\0\0\0", "wimmount FILE FOLDER (package wimtools)"),
    ForeignFormat("an ACE archive", "**ACE**", at: 7, "unace x FILE (package unace)"),
    ForeignFormat("a ZPAQ archive", "7kSt", "zpaq x FILE (package zpaq)"),
    ForeignFormat("an NTFS image", "NTFS    ", at: 3, loop),
    ForeignFormat("an XFS image", "XFSB", loop),
    ForeignFormat("an ext4 image", [0x53, 0xef], at: 1080, "fuse2fs -o ro FILE FOLDER (package fuse2fs)"),
    ForeignFormat("an EROFS image", [0xe2, 0xe1, 0xf5, 0xe0], at: 1024, loop),
    // An image with ISO 9660, too, has CD001 here.
    ForeignFormat("a UDF image", "BEA01", at: 0x8001, loop),
  ]
}
