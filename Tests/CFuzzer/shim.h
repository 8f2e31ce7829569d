#pragma once

#include <stddef.h>
#include <stdint.h>

// C, because no header of libFuzzer's is installed. It is linked by -sanitize=fuzzer alone.

/// Runs libFuzzer with a program's arguments; `callback` gets each input, and gives 0.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
