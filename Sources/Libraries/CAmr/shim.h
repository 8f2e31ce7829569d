#pragma once

#include <opencore-amrnb/interf_enc.h>
#include <vo-amrwbenc/enc_if.h>
