#pragma once

#include <leptonica/allheaders.h>
// Declares the structs since Leptonica 1.83. Without it they are opaque, and pointers to them have another type in Swift.
#if __has_include(<leptonica/pix_internal.h>)
#include <leptonica/pix_internal.h>
#endif
