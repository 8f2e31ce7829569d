internal import CQpdfKey
internal import Catalogue
internal import WorkerKit

/// A document's encryption key and methods, as libqpdf derives them from a password.
struct EncryptionKey {
  let bytes: [UInt8]
  let strings: Protection.Method
  let streams: Protection.Method
  let files: Protection.Method
  /// Whether the password is the owner password.
  let isOwners: Bool
  /// Whether the password is the user password. It can be both.
  let isReaders: Bool

  /// Returns `nil` if the document is not encrypted in a supported way. Throws if the password is wrong.
  init?(of bytes: UnsafeRawBufferPointer, _ password: [UInt8]) throws(JobFailure) {
    var key = ffmount_pdf_key()
    let text = unsafe bytes.assumingMemoryBound(to: CChar.self)
    let status = unsafe ffmount_pdf_find_key(
      text.baseAddress, text.count, password.map { CChar(bitPattern: $0) } + [0], &key)
    if status == 1 { throw JobFailure.locked }
    guard status == 0, let strings = Self.method(key.strings, keySize: key.key_size),
      let streams = Self.method(key.streams, keySize: key.key_size),
      let files = Self.method(key.files, keySize: key.key_size)
    else { return nil }
    let size = key.key_size
    self.bytes = unsafe withUnsafeBytes(of: &key.key) { unsafe Array($0.prefix(size)) }
    (self.strings, self.streams, self.files) = (strings, streams, files)
    isOwners = key.is_owner != 0
    isReaders = key.is_readers != 0
  }

  private static func method(_ method: ffmount_pdf_method, keySize: Int) -> Protection.Method? {
    switch method {
    case FFMOUNT_PDF_NONE: Protection.Method.none
    case FFMOUNT_PDF_RC4 where keySize >= 5: .rc4
    case FFMOUNT_PDF_AES128 where keySize >= 11: .aes128
    case FFMOUNT_PDF_AES256 where keySize == 32: .aes256
    default: nil
    }
  }
}
