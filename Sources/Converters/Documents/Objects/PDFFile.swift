internal import CQpdf
internal import Catalogue
internal import WorkerKit

/// A PDF as read by libqpdf: its objects, not its rendering.
///
/// Objects are handles owned by the file. `releaseObjects` invalidates all of them.
@safe final class PDFFile {
  let pdf: qpdf_data
  /// The whole document, original or recovered. Objects are read from it on demand.
  let bytes: UnsafeRawBufferPointer
  private let holder: AnyObject
  /// Whether the cross-references were rebuilt. The result may then differ from the author's intent.
  let isRecovered: Bool
  /// Whether only the attached files are encrypted, by an unknown password.
  let hidesFiles: Bool
  /// The page objects found by recovery, whether or not a page tree lists them.
  let foundPages: [PDFObject.ID]
  /// The password that opened the document. Empty if it needs none.
  private let password: [UInt8]
  /// The document's encryption. Nil if it is not encrypted.
  private(set) lazy var protection = Result<Protection?, JobFailure> { () throws(JobFailure) in try findProtection() }

  /// Reads the cross-references. An encrypted document opens if it needs no password, or one of the given ones.
  init(reading input: JobInput, _ passwords: [[UInt8]] = []) throws(JobFailure) {
    do throws(JobFailure) {
      unsafe (pdf, password) = try PDFFile.open(input.bytes, passwords)
      (holder, isRecovered, hidesFiles, foundPages) = (input, false, false, [])
      unsafe bytes = input.bytes
    } catch {
      let isLocked = error.failure == .locked
      guard isLocked || error.failure == .damaged,
        let (recovered, opened) = unsafe PDFFile.recover(input.bytes, isLocked: isLocked, passwords)
      else { throw error }
      unsafe (pdf, password) = opened
      (holder, isRecovered, hidesFiles) = (recovered, true, recovered.hidesFiles)
      foundPages = recovered.pages
      unsafe bytes = recovered.bytes
    }
  }

  /// Reads a document by rebuilt cross-references. For one that can be opened, but whose own cross-references may be
  /// wrong.
  init(recovering input: JobInput, _ passwords: [[UInt8]] = []) throws(JobFailure) {
    guard let (recovered, opened) = unsafe PDFFile.recover(input.bytes, isLocked: false, passwords) else {
      throw JobFailure(.damaged, "has no pages")
    }
    unsafe (pdf, password) = opened
    (holder, isRecovered, hidesFiles) = (recovered, true, recovered.hidesFiles)
    foundPages = recovered.pages
    unsafe bytes = recovered.bytes
  }

  /// Opens a document by rebuilt cross-references. Since version 12, libqpdf opens none without a page tree.
  private static func recover(
    _ bytes: UnsafeRawBufferPointer, isLocked: Bool, _ passwords: [[UInt8]]
  ) -> (RecoveredDocument, (qpdf_data, password: [UInt8]))? {
    for replacesTree in [false, true] {
      guard let recovered = unsafe RecoveredDocument(of: bytes, isLocked: isLocked, replacesTree: replacesTree) else {
        return nil
      }
      if let opened = unsafe try? open(recovered.bytes, passwords) { return unsafe (recovered, opened) }
    }
    return nil
  }

  private static func open(
    _ bytes: UnsafeRawBufferPointer, _ passwords: [[UInt8]]
  ) throws(JobFailure) -> (qpdf_data, password: [UInt8]) {
    // The owner password permits more than none, so it is tried first.
    for password in passwords.flatMap(Passphrase.spellings(of:)) {
      if let pdf = unsafe try? open(bytes, password) { return unsafe (pdf, password) }
    }
    return try unsafe (open(bytes, []), [])
  }

  private static func open(_ bytes: UnsafeRawBufferPointer, _ password: [UInt8]) throws(JobFailure) -> qpdf_data {
    guard let pdf = unsafe qpdf_init() else { throw JobFailure.noMemory() }
    unsafe qpdf_silence_errors(pdf)
    unsafe qpdf_set_suppress_warnings(pdf, QPDF_TRUE)
    let text = unsafe bytes.assumingMemoryBound(to: CChar.self)
    let password = password.map { CChar(bitPattern: $0) } + [0]
    do throws(JobFailure) {
      try unsafe check(qpdf_read_memory(pdf, "input", text.baseAddress, UInt64(text.count), password), pdf)
    } catch {
      var pdf: qpdf_data? = unsafe pdf
      unsafe qpdf_cleanup(&pdf)
      throw error
    }
    return unsafe pdf
  }

  deinit {
    var pdf: qpdf_data? = unsafe self.pdf
    unsafe qpdf_cleanup(&pdf)
  }

  /// Whether libqpdf had to repair something since the last `forgetWarnings`.
  var isDamaged: Bool { unsafe qpdf_more_warnings(pdf) != 0 }

  /// Whether libqpdf had to repair something at any time.
  var hasBeenDamaged: Bool { wasDamaged || isDamaged }

  private var wasDamaged = false

  func check(_ code: QPDF_ERROR_CODE) throws(JobFailure) { try unsafe PDFFile.check(code, pdf) }

  private static func check(_ code: QPDF_ERROR_CODE, _ pdf: qpdf_data) throws(JobFailure) {
    guard code & QPDF_ERROR_CODE(QPDF_ERRORS) != 0 else { return }
    guard let error = unsafe qpdf_get_error(pdf) else { throw JobFailure(.damaged, "is not a readable PDF") }
    let words = unsafe qpdf_get_error_message_detail(pdf, error).map { unsafe String(cString: $0) } ?? ""
    switch unsafe qpdf_get_error_code(pdf, error) {
    case qpdf_e_password: throw JobFailure.locked
    case qpdf_e_unsupported: throw JobFailure(.unsupported, "uses features that cannot be read", saying: words)
    default: throw JobFailure(.damaged, "is not a readable PDF", saying: words)
    }
  }

  private func findProtection() throws(JobFailure) -> Protection? {
    guard isEncrypted else { return nil }
    let key = try unsafe EncryptionKey(of: bytes, password)
    let text = trailer["/Encrypt"]
    guard let key, let dictionary = text?.ownText else {
      throw JobFailure(.unsupported, "is encrypted in an unknown way")
    }
    let isSparing = text?["/EncryptMetadata"].map { !$0.isTrue } ?? false
    return Protection(
      key: key.bytes, strings: key.strings, streams: key.streams, files: key.files, sparesMetadata: isSparing,
      dictionary: dictionary, id: trailer["/ID"]?.items.first?.string ?? [], isOwners: key.isOwners)
  }

  /// Returns the password that opens the document as a user instead of the owner. Returns `nil` if unknown.
  func readersPassword(among passwords: [[UInt8]]) -> [UInt8]? {
    let candidates = [password] + Passphrase.toTry(passwords)
    return candidates.first { candidate in
      (unsafe (try? EncryptionKey(of: bytes, candidate)) ?? nil).map { $0.isReaders } ?? false
    }
  }

  /// Throws the error left behind by calls without a result, if any.
  func checkErrors() throws(JobFailure) {
    if unsafe qpdf_has_error(pdf) != 0 { try check(QPDF_ERROR_CODE(QPDF_ERRORS)) }
  }

  /// Clears the error left behind by calls without a result. For objects that are possibly damaged.
  func forgetErrors() { _ = unsafe qpdf_has_error(pdf) != 0 ? qpdf_get_error(pdf) : nil }

  /// The PDF version, as in `%PDF-1.7`.
  var version: String { unsafe qpdf_get_pdf_version(pdf).map { unsafe String(cString: $0) } ?? "1.7" }

  /// Clears the warnings, so that `isDamaged` reports later ones.
  func forgetWarnings() {
    wasDamaged = hasBeenDamaged
    while isDamaged { _ = unsafe qpdf_next_warning(pdf) }
  }

  func releaseObjects() { unsafe qpdf_oh_release_all(pdf) }

  var root: PDFObject { unsafe PDFObject(file: self, handle: qpdf_get_root(pdf)) }

  func object(_ handle: qpdf_oh) -> PDFObject { PDFObject(file: self, handle: handle) }

  /// Returns the object with this number. Returns a null object if the file has none.
  func object(_ id: PDFObject.ID) -> PDFObject {
    unsafe object(qpdf_get_object_by_id(pdf, id.number, id.generation))
  }
}

extension PDFFile {
  var trailer: PDFObject { unsafe object(qpdf_get_trailer(pdf)) }

  var isEncrypted: Bool { unsafe qpdf_is_encrypted(pdf) != 0 }

  /// Whether everything is permitted that the owner can forbid. True for an unencrypted document.
  var allowsAll: Bool {
    if (try? protection.get())??.isOwners ?? false { return true }
    return unsafe qpdf_allow_modify_all(pdf) != 0 && qpdf_allow_extract_all(pdf) != 0
      && qpdf_allow_print_high_res(pdf) != 0
  }
}

extension PDFFile {
  /// Whether the document is signed, so that any change to it can be detected. Releases no objects.
  ///
  /// Checks the document's own flags and, since these are optional, looks for a signature field with a value (PDF
  /// 32000-1, 12.7.4.5).
  var isSigned: Bool {
    guard let form = root["/AcroForm"] else { return root["/Perms"] != nil }
    if root["/Perms"] != nil || (form["/SigFlags"]?.integer ?? 0) & 3 != 0 { return true }
    var seen: Set<PDFObject.ID> = []
    // With the type that kids inherit.
    var fields = (form["/Fields"]?.items ?? []).map { (field: $0, isSignature: false) }
    while let (field, isInherited) = fields.popLast() {
      if let id = field.id, !seen.insert(id).inserted { continue }
      let isSignature = field["/FT"]?.name.map { $0 == "/Sig" } ?? isInherited
      if isSignature, field["/V"] != nil { return true }
      // Kids that are not indirect objects have no kids themselves.
      guard field.id != nil else { continue }
      fields += (field["/Kids"]?.items ?? []).map { ($0, isSignature) }
    }
    return false
  }
}
