#pragma once

#include <stddef.h>
#include <stdint.h>
#include <jbig2.h>

/// jbig2_ctx_new is a macro.
static inline Jbig2Ctx *ffmount_jbig2_context(void) {
  return jbig2_ctx_new(NULL, JBIG2_OPTIONS_EMBEDDED, NULL, NULL, NULL);
}
