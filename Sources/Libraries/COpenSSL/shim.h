#pragma once

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

// EVP has Blowfish only in a provider that programs load from a file.
#ifndef OPENSSL_SUPPRESS_DEPRECATED
#define OPENSSL_SUPPRESS_DEPRECATED
#endif
#include <openssl/blowfish.h>

/// Decrypts bytes in place in CFB mode with 64 bits. `vector` has 8 bytes.
static inline void ffmount_blowfish_decrypt(const unsigned char *key, size_t keySize, unsigned char *vector,
                                            unsigned char *bytes, size_t count) {
  BF_KEY schedule;
  int place = 0;
  BF_set_key(&schedule, (int)keySize, key);
  BF_cfb64_encrypt(bytes, bytes, (long)count, &schedule, vector, &place, BF_DECRYPT);
}
