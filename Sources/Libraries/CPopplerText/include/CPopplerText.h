#pragma once

#include <stddef.h>

// poppler's text of whole pages in reading order, which poppler-glib does not give: only poppler-cpp does, and Swift cannot
// import its C++ without doing so everywhere.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ffconvert_text_document ffconvert_text_document;

/// Loads what poppler needs from files; before the process is shut in, once. 0: done.
int ffconvert_text_prepare(void);
typedef enum { FFCONVERT_TEXT_UNREADABLE, FFCONVERT_TEXT_LOCKED, FFCONVERT_TEXT_FORBIDDEN } ffconvert_text_refusal;

/// The bytes stay the caller's and have to outlive the document. NULL: `*refusal` tells whether for want of a password, or
/// because the document's owner forbids that text is taken out of it.
ffconvert_text_document *ffconvert_text_open(
    const char *bytes, int count, const char *password, ffconvert_text_refusal *refusal);
int ffconvert_text_page_count(ffconvert_text_document *document);
/// UTF-8, ended by a form feed. For the caller to free(3). NULL: there is no such page.
char *ffconvert_text_of_page(ffconvert_text_document *document, int index, size_t *count);
void ffconvert_text_close(ffconvert_text_document *document);

#ifdef __cplusplus
}
#endif
