public import Bytes
internal import CPosix
internal import Glibc

/// The extended attributes of a directory entry. Symbolic links are not followed. An empty name means the directory
/// itself, which then needs no search permission.
public enum ExtendedAttributes {
  /// Returns the value of an attribute. Throws ENODATA if it does not exist.
  public static func value(_ attribute: FileName, of name: FileName, in folder: Int32) throws(Fault) -> [UInt8] {
    let path = path(of: name, in: folder)
    return unsafe try attribute.withCString { (attribute) throws(Fault) in
      unsafe try fetch("lgetxattr") { unsafe ffmount_lgetxattr(path, attribute, $0, $1) }
    }
  }

  /// Returns the NUL-terminated names of all attributes, concatenated.
  public static func names(of name: FileName, in folder: Int32) throws(Fault) -> [UInt8] {
    let path = path(of: name, in: folder)
    return unsafe try fetch("llistxattr") {
      unsafe ffmount_llistxattr(path, $0?.assumingMemoryBound(to: CChar.self), $1)
    }
  }

  /// Returns the value of an attribute of an open file, even if the file's name has changed.
  public static func value(_ attribute: FileName, ofOpen file: Int32) throws(Fault) -> [UInt8] {
    unsafe try attribute.withCString { (attribute) throws(Fault) in
      unsafe try fetch("fgetxattr") { unsafe ffmount_fgetxattr(file, attribute, $0, $1) }
    }
  }

  /// Returns the names of an open file's attributes, even if the file's name has changed.
  public static func names(ofOpen file: Int32) throws(Fault) -> [UInt8] {
    unsafe try fetch("flistxattr") {
      unsafe ffmount_flistxattr(file, $0?.assumingMemoryBound(to: CChar.self), $1)
    }
  }

  /// Returns a path for calls that take no directory descriptor. The path through /proc follows no symbolic link of the
  /// source.
  private static func path(of name: FileName, in folder: Int32) -> [CChar] {
    var path = "/proc/self/fd/\(folder)/".utf8.map { CChar($0) }
    for byte in name.bytes { path.append(CChar(bitPattern: byte)) }
    path.append(0)
    return path
  }

  private static func fetch(
    _ call: StaticString, _ body: (UnsafeMutableRawPointer?, Int) -> Int
  ) throws(Fault) -> [UInt8] {
    // The value of both XATTR_SIZE_MAX and XATTR_LIST_MAX.
    let limit = 64 << 10
    let size = try systemCall(call) { body(nil, 0) }
    guard size > 0 else { return [] }
    return unsafe try filling(min(limit, size + 64), call) { unsafe body($0.baseAddress, $0.count) }
  }
}

/// Returns the target of a symbolic link, as it is recorded.
public func linkTarget(of name: FileName, in folder: Int32) throws(Fault) -> [UInt8] {
  unsafe try filling(Int(PATH_MAX), "readlinkat") { buffer in
    unsafe name.withCString { name in
      unsafe readlinkat(folder, name, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
    }
  }
}

/// Returns the bytes that a system call writes into a buffer of `capacity` bytes. The call returns their count.
func filling(
  _ capacity: Int, _ call: StaticString, _ body: (UnsafeMutableRawBufferPointer) -> Int
) throws(Fault) -> [UInt8] {
  var fault: Fault?
  let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
    do throws(Fault) {
      initialized = try systemCall(call) { unsafe body(UnsafeMutableRawBufferPointer(buffer)) }
    } catch { fault = error }
  }
  if let fault { throw fault }
  return bytes
}
