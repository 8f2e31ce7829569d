#pragma once

#include <vips/vips.h>

/* dladdr(3) and its result, which are GNU's and not in Swift's Glibc. */
struct ffvips_place {
  const char *file;
  void *start;
  const char *symbol;
  void *address;
};
extern int ffvips_find(const void *, struct ffvips_place *) __asm__("dladdr");
