internal import CQpdf

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
