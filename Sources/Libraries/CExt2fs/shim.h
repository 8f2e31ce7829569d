#pragma once

#include <ext2fs/ext2fs.h>
