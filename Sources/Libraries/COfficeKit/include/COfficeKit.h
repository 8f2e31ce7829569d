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
///
/// From then on it lays out what `soffice` lays out: as a library for screens it would measure cells, charts and lines in
/// other ways.
LibreOfficeKit *ffmount_office_start(const char *folder, const char *profile);
/// Reads a document; NULL if it cannot. Answers with one after another of `count` passwords when it is asked for one, and
/// then with none. Reads the document again if the reader gives up before the last one. All three have to stay where they
/// are.
LibreOfficeKitDocument *ffmount_office_open(LibreOfficeKit *kit, const char *url, const char *const *passwords, size_t count);
/// Whether a password was asked for.
bool ffmount_office_asked(void);
/// How many passwords were given: the last of them opened the document, if it is open.
size_t ffmount_office_given(void);

/// Whenever LibreOffice opens a file whose URL ends in `ending`, it gets another one: for files that its packages without a
/// screen lack. ASCII; both have to stay where they are.
///
/// The program defines `osl_openFile` itself for this, by which LibreOffice opens files.
void ffmount_office_stand_in(const char *ending, const char *url);

/// From now on this is the time of day for the whole process, in seconds since 1970: dates that documents compute, and those
/// in what is written, are this one. Clocks that measure time go on.
///
/// The program defines `clock_gettime` and `time` itself for this, which libraries call before those of the C library; and
/// `rtl_random_getBytes`, by which LibreOffice names things at random: here it gives the same bytes in each process.
void ffmount_office_set_time(int64_t seconds);
