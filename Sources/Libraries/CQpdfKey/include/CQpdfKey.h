#pragma once

#include <stddef.h>

// What an encrypted document is encrypted with, which libqpdf's C interface does not tell: only its C++ does.

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
  /// Whether the password is the owner's, and whether it is that of readers; one may be both.
  int is_owner, is_readers;
} ffmount_pdf_key;

/// 0: done; 1: the password does not open it; 2: it is not encrypted; 3: it cannot be read.
int ffmount_pdf_find_key(const char *bytes, size_t count, const char *password, ffmount_pdf_key *key);

/// Whether a document may be encrypted: then it says so in clear. By memmem(3), which is GNU's and which Swift does not see.
int ffmount_pdf_may_be_encrypted(const char *bytes, size_t count);

#ifdef __cplusplus
}
#endif
