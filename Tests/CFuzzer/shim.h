#pragma once

#include <stddef.h>
#include <stdint.h>

// C, because libFuzzer installs no header. It is linked by -sanitize=fuzzer only.

/// Runs libFuzzer with a program's arguments; `callback` gets each input, and returns 0.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
