#pragma once

#include <stdbool.h>

#include <LibreOfficeKit/LibreOfficeKit.h>
#include <stdint.h>

// LibreOffice is loaded when it is needed: a program that links it would not start where it is missing.

/// Loads the library that has nearly all of LibreOffice; `folder` is the one with its programs. Returns 0, or -1 if it
/// cannot be loaded.
int ffmount_office_load(const char *folder);
/// Starts it with a profile, by the URL of a folder: loads what it needs from files and starts threads. Once in a process.
/// Returns NULL if it cannot be started.
LibreOfficeKit *ffmount_office_start(const char *folder, const char *profile);

/// From now on this is the time of day for the whole process, in seconds since 1970: dates that documents compute, and those
/// in what is written, are this one. Clocks that measure time go on.
///
/// The program defines `clock_gettime` and `time` itself for this, which libraries call before those of the C library; and
/// `rtl_random_getBytes`, by which LibreOffice names things at random: here it gives the same bytes in each process.
void ffmount_office_set_time(int64_t seconds);
