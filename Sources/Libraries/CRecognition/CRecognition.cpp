#include "CRecognition.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <tesseract/baseapi.h>

// Exceptions must not reach Swift.

// What the reader below looks in: Tesseract passes it nothing but a name.
static const ffscan_data *known = nullptr;
static size_t known_count = 0;

// Called with `FOLDER/NAME.traineddata`.
static bool read_data(const char *path, std::vector<char> *data) {
  const char *slash = strrchr(path, '/');
  const std::string file = slash ? slash + 1 : path;
  for (size_t index = 0; index < known_count; index++) {
    if (file != std::string(known[index].name) + ".traineddata") continue;
    const char *bytes = static_cast<const char *>(known[index].bytes);
    data->assign(bytes, bytes + known[index].count);
    return true;
  }
  return false;
}

static const char quiet[] = "debug_file", nothing[] = "/dev/null";

void ffscan_recognition_prepare(void) {
  // The file is opened with the first message, which is that there are no data.
  delete static_cast<tesseract::TessBaseAPI *>(ffscan_recognition_open(nullptr, 0, "none"));
}

void *ffscan_recognition_open(const ffscan_data *data, size_t count, const char *languages) try {
  auto recognizer = std::make_unique<tesseract::TessBaseAPI>();
  recognizer->SetVariable(quiet, nothing);
  const std::vector<std::string> names = {quiet}, values = {nothing};
  // Only the older engine knows scripts and orientations.
  const auto engine = strcmp(languages, "osd") == 0 ? tesseract::OEM_TESSERACT_ONLY : tesseract::OEM_LSTM_ONLY;
  known = data;
  known_count = count;
  // A folder that is not there: nothing but the reader is asked.
  const int status = recognizer->Init("/", 0, languages, engine, nullptr, 0, &names, &values, false, read_data);
  known = nullptr;
  known_count = 0;
  return status == 0 ? recognizer.release() : nullptr;
} catch (...) {
  known = nullptr;
  known_count = 0;
  return nullptr;
}

float ffscan_recognition_line_height(const void *iterator) {
  float height = 0, descenders = 0, ascenders = 0;
  static_cast<const tesseract::PageIterator *>(iterator)->RowAttributes(&height, &descenders, &ascenders);
  return height;
}
