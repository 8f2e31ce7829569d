#include "CPopplerText.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iconv.h>
#include <memory>
#include <string>
#include <vector>

#include <poppler-document.h>
#include <poppler-global.h>
#include <poppler-page.h>

// Exceptions must not reach Swift.

struct ffconvert_text_document {
  std::unique_ptr<poppler::document> document;
};

// poppler-cpp's strings are UTF-16 and poppler-glib's passwords ISO-8859-1, for which glibc loads modules. They stay
// loaded while in use.
int ffconvert_text_prepare(void) {
  const iconv_t failed = reinterpret_cast<iconv_t>(-1);
  return iconv_open("UTF-16", "UTF-8") == failed || iconv_open("UTF-8", "UTF-16") == failed ||
          iconv_open("ISO-8859-1", "UTF-8") == failed
      ? -1
      : 0;
}

static std::atomic<size_t> problems{0};

static void count_problem(const std::string &, void *) { problems++; }

size_t ffconvert_text_problems(void) { return problems; }

ffconvert_text_document *ffconvert_text_open(
    const char *bytes, int count, const char *password, ffconvert_text_refusal *refusal) try {
  *refusal = FFCONVERT_TEXT_UNREADABLE;
  // By default it writes errors to standard error.
  poppler::set_debug_error_function(count_problem, nullptr);
  std::unique_ptr<poppler::document> document(poppler::document::load_from_raw_data(bytes, count, password, password));
  if (!document) return nullptr;
  if (document->is_locked()) {
    *refusal = FFCONVERT_TEXT_LOCKED;
    return nullptr;
  }
  if (!document->has_permission(poppler::perm_copy)) {
    *refusal = FFCONVERT_TEXT_FORBIDDEN;
    return nullptr;
  }
  return new ffconvert_text_document{std::move(document)};
} catch (...) {
  return nullptr;
}

int ffconvert_text_page_count(ffconvert_text_document *document) try {
  return document->document->pages();
} catch (...) {
  return 0;
}

char *ffconvert_text_of_page(ffconvert_text_document *document, int index, size_t *count) try {
  std::unique_ptr<poppler::page> page(document->document->create_page(index));
  if (!page) return nullptr;
  const poppler::byte_array text =
      page->text(poppler::rectf(), poppler::page::non_raw_non_physical_layout).to_utf8();
  char *copy = static_cast<char *>(malloc(text.size() + 1));
  if (!copy) return nullptr;
  memcpy(copy, text.data(), text.size());
  *count = text.size();
  return copy;
} catch (...) {
  return nullptr;
}

struct ffconvert_text_words {
  std::vector<poppler::text_box> boxes;
  poppler::byte_array current;
};

ffconvert_text_words *ffconvert_text_words_of_page(ffconvert_text_document *document, int index) try {
  std::unique_ptr<poppler::page> page(document->document->create_page(index));
  if (!page) return nullptr;
  return new ffconvert_text_words{page->text_list(poppler::page::text_list_include_font), {}};
} catch (...) {
  return nullptr;
}

size_t ffconvert_text_word_count(const ffconvert_text_words *words) { return words->boxes.size(); }

int ffconvert_text_word_at(ffconvert_text_words *words, size_t index, ffconvert_text_word *word) try {
  const poppler::text_box &box = words->boxes.at(index);
  words->current = box.text().to_utf8();
  const poppler::rectf place = box.bbox();
  *word = {words->current.data(), words->current.size(), place.left(), place.top(), place.width(), place.height(),
           box.has_font_info() ? box.get_font_size() : 0, box.rotation(), box.has_space_after() ? 1 : 0};
  return 0;
} catch (...) {
  return -1;
}

void ffconvert_text_words_free(ffconvert_text_words *words) { delete words; }

void ffconvert_text_close(ffconvert_text_document *document) { delete document; }
