#pragma once

#include <stddef.h>

// The encryption key of a document, which libqpdf exposes only in C++, not in its C interface.

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  FFMOUNT_PDF_NONE,
  FFMOUNT_PDF_RC4,
  FFMOUNT_PDF_AES128,
  FFMOUNT_PDF_AES256,
  FFMOUNT_PDF_UNKNOWN
} ffmount_pdf_method;

typedef struct {
  unsigned char key[32];
  size_t key_size;
  ffmount_pdf_method strings, streams, files;
  /// Whether the password is the owner password, and whether it is the user password; it may be both.
  int is_owner, is_readers;
} ffmount_pdf_key;

/// Returns 0 on success; 1 if the password does not open the document; 2 if it is not encrypted; 3 if it cannot be
/// read.
int ffmount_pdf_find_key(const char *bytes, size_t count, const char *password, ffmount_pdf_key *key);

/// Whether a document may be encrypted, which it declares in clear text. Uses memmem(3), a GNU extension not visible in
/// Swift.
int ffmount_pdf_may_be_encrypted(const char *bytes, size_t count);

#ifdef __cplusplus
}
#endif
