#pragma once

#include <stddef.h>

// The text of whole pages in reading order, which only poppler-cpp offers, not poppler-glib; Swift cannot import its
// C++ without enabling C++ interoperability everywhere.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ffconvert_text_document ffconvert_text_document;

/// Loads the files that poppler needs; must be called once, before the sandbox is closed. Returns 0 on success.
int ffconvert_text_prepare(void);
typedef enum { FFCONVERT_TEXT_UNREADABLE, FFCONVERT_TEXT_LOCKED, FFCONVERT_TEXT_FORBIDDEN } ffconvert_text_refusal;

/// The bytes are borrowed and must outlive the document. Returns NULL on failure; `*refusal` tells whether a password
/// is missing, or the document's owner forbids extracting text.
ffconvert_text_document *ffconvert_text_open(
    const char *bytes, int count, const char *password, ffconvert_text_refusal *refusal);
/// The number of problems that poppler-cpp has found in all documents.
size_t ffconvert_text_problems(void);
int ffconvert_text_page_count(ffconvert_text_document *document);
/// UTF-8, terminated by a form feed; the caller calls free(3). NULL if there is no such page.
char *ffconvert_text_of_page(ffconvert_text_document *document, int index, size_t *count);

/// A word of a page; lengths in points of 1/72 inch, from the page's top left corner.
typedef struct {
  /// UTF-8, not terminated; there until the next word is asked for.
  const char *text;
  size_t count;
  double left, top, width, height;
  /// The font's; 0 if unknown.
  double size;
  /// In quarters of a turn.
  int rotation;
  int has_space_after;
} ffconvert_text_word;
typedef struct ffconvert_text_words ffconvert_text_words;

/// The words of a page in the order of `ffconvert_text_of_page`. NULL if there is no such page.
ffconvert_text_words *ffconvert_text_words_of_page(ffconvert_text_document *document, int index);
size_t ffconvert_text_word_count(const ffconvert_text_words *words);
/// Returns 0 on success.
int ffconvert_text_word_at(ffconvert_text_words *words, size_t index, ffconvert_text_word *word);
void ffconvert_text_words_free(ffconvert_text_words *words);

void ffconvert_text_close(ffconvert_text_document *document);

#ifdef __cplusplus
}
#endif
