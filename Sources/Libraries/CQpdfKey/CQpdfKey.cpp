#include "CQpdfKey.h"

#include <cstring>
#include <string>

#include <qpdf/QPDF.hh>
#include <qpdf/QPDFExc.hh>

// Exceptions must not reach Swift.

static ffmount_pdf_method method(QPDF::encryption_method_e method) {
  switch (method) {
  case QPDF::e_none: return FFMOUNT_PDF_NONE;
  case QPDF::e_rc4: return FFMOUNT_PDF_RC4;
  case QPDF::e_aes: return FFMOUNT_PDF_AES128;
  case QPDF::e_aesv3: return FFMOUNT_PDF_AES256;
  default: return FFMOUNT_PDF_UNKNOWN;
  }
}

int ffmount_pdf_find_key(const char *bytes, size_t count, const char *password, ffmount_pdf_key *key) try {
  QPDF pdf;
  pdf.setSuppressWarnings(true);
  pdf.processMemoryFile("input", bytes, count, password);
  int revision = 0, permissions = 0, version = 0;
  QPDF::encryption_method_e streams = QPDF::e_none, strings = QPDF::e_none, files = QPDF::e_none;
  if (!pdf.isEncrypted(revision, permissions, version, streams, strings, files)) return 2;
  const std::string found = pdf.getEncryptionKey();
  if (found.size() > sizeof key->key) return 3;
  memcpy(key->key, found.data(), found.size());
  key->key_size = found.size();
  // Before version 4 there is only RC4, and libqpdf does not report it.
  key->strings = version < 4 ? FFMOUNT_PDF_RC4 : method(strings);
  key->streams = version < 4 ? FFMOUNT_PDF_RC4 : method(streams);
  key->files = version < 4 ? FFMOUNT_PDF_RC4 : method(files);
  key->is_owner = pdf.ownerPasswordMatched() ? 1 : 0;
  key->is_readers = pdf.userPasswordMatched() ? 1 : 0;
  return 0;
} catch (QPDFExc &error) {
  return error.getErrorCode() == qpdf_e_password ? 1 : 3;
} catch (...) {
  return 3;
}

int ffmount_pdf_may_be_encrypted(const char *bytes, size_t count) {
  return memmem(bytes, count, "/Encrypt", 8) != nullptr ? 1 : 0;
}
