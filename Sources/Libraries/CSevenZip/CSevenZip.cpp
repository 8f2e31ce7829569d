#include "CSevenZip.h"

#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <dlfcn.h>
#include <new>
#include <string>
#include <strings.h>
#include <vector>

// The library's interface: classes of virtual functions, in a fixed order, with reference counts. Exceptions must not
// reach Swift.

namespace {

typedef int32_t Status;

constexpr Status ok = 0, no = 1;
constexpr Status unknown_interface = int32_t(0x80004002), aborted = int32_t(0x80004004);
constexpr Status not_implemented = int32_t(0x80004001), out_of_memory = int32_t(0x8007000E);
constexpr Status invalid_seek = int32_t(0x80070083);

struct Identifier {
  uint32_t first;
  uint16_t second, third;
  uint8_t rest[8];
  bool operator==(const Identifier &other) const { return memcmp(this, &other, sizeof other) == 0; }
};

constexpr Identifier interface(uint8_t group, uint8_t number) {
  return {0x23170F69, 0x40C1, 0x278A, {0, 0, 0, group, 0, number, 0, 0}};
}

constexpr Identifier base_id = {0, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};
constexpr Identifier sequential_input_id = interface(3, 1), sequential_output_id = interface(3, 2);
constexpr Identifier input_id = interface(3, 3), size_id = interface(3, 6);
constexpr Identifier opening_id = interface(6, 0x10), extraction_id = interface(6, 0x20), streams_id = interface(6, 0x40);
constexpr Identifier archive_id = interface(6, 0x60), raw_properties_id = interface(6, 0x70);
constexpr Identifier password_id = interface(5, 0x10);

/// A value of one of several types. A text has its size in bytes in the four bytes before it.
struct Variant {
  uint16_t type = 0, precision = 0, nanoseconds = 0, reserved = 0;
  union {
    uint64_t whole = 0;
    int64_t sign;
    uint32_t half;
    uint16_t quarter;
    uint8_t byte;
    int16_t boolean;
    wchar_t *text;
  };

  static constexpr uint16_t text_type = 8;

  Variant() = default;
  Variant(const Variant &) = delete;
  ~Variant() {
    if (type == text_type && text) free(reinterpret_cast<uint32_t *>(text) - 1);
  }

  bool number(uint64_t &value) const {
    switch (type) {
    case 3: value = uint64_t(int64_t(int32_t(half))); return true;
    case 11: value = boolean != 0; return true;
    case 17: value = byte; return true;
    case 18: value = quarter; return true;
    case 19: value = half; return true;
    case 20:
    case 21: value = whole; return true;
    default: return false;
    }
  }

  /// The number of bytes of a text.
  uint32_t size() const { return reinterpret_cast<const uint32_t *>(text)[-1]; }
};

wchar_t *make_text(const std::wstring &from) {
  const size_t size = from.size() * sizeof(wchar_t);
  auto *made = static_cast<uint32_t *>(malloc(sizeof(uint32_t) + size + sizeof(wchar_t)));
  if (!made) return nullptr;
  *made = uint32_t(size);
  memcpy(made + 1, from.c_str(), size + sizeof(wchar_t));
  return reinterpret_cast<wchar_t *>(made + 1);
}

struct Base {
  virtual Status query(const Identifier &id, void **object) = 0;
  virtual uint32_t retain() = 0;
  virtual uint32_t release() = 0;
};

struct SequentialInput : Base {
  virtual Status read(void *data, uint32_t size, uint32_t *count) = 0;
};

struct Input : SequentialInput {
  virtual Status seek(int64_t offset, uint32_t origin, uint64_t *position) = 0;
};

struct SequentialOutput : Base {
  virtual Status write(const void *data, uint32_t size, uint32_t *count) = 0;
};

struct SizedStream : Base {
  virtual Status size(uint64_t *size) = 0;
};

struct Opening : Base {
  virtual Status set_total(const uint64_t *files, const uint64_t *bytes) = 0;
  virtual Status set_completed(const uint64_t *files, const uint64_t *bytes) = 0;
};

struct Extraction : Base {
  virtual Status set_total(uint64_t total) = 0;
  virtual Status set_completed(const uint64_t *count) = 0;
  virtual Status stream(uint32_t entry, SequentialOutput **stream, int32_t mode) = 0;
  virtual Status prepare(int32_t mode) = 0;
  virtual Status result(int32_t result) = 0;
};

struct Passwords : Base {
  virtual Status password(wchar_t **password) = 0;
};

struct Archive : Base {
  virtual Status open(Input *input, const uint64_t *most_start, Opening *opening) = 0;
  virtual Status close() = 0;
  virtual Status count(uint32_t *count) = 0;
  virtual Status property(uint32_t entry, uint32_t property, Variant *value) = 0;
  virtual Status extract(const uint32_t *entries, uint32_t count, int32_t tests, Extraction *extraction) = 0;
  virtual Status archive_property(uint32_t property, Variant *value) = 0;
};

struct RawProperties : Base {
  virtual Status parent(uint32_t entry, uint32_t *parent, uint32_t *type) = 0;
  virtual Status property(uint32_t entry, uint32_t property, const void **data, uint32_t *size, uint32_t *type) = 0;
};

struct Streams : Base {
  virtual Status stream(uint32_t entry, SequentialInput **stream) = 0;
};

/// An object that its creator deletes: it outlives all references of the library.
template <typename Interface> struct Owned : Interface {
  uint32_t retain() override { return 2; }
  uint32_t release() override { return 1; }
  virtual ~Owned() = default;
};

/// Detects reads of the archive that go straight into the memory that a caller of a stream has given. They are not done:
/// marks take the place of their bytes, so that changes made to these afterwards are noticed.
struct Tracer {
  static constexpr size_t room = 4 << 20, step = 512;
  char *memory = nullptr;
  std::vector<ffmount_7z_area> areas;

  Tracer() = default;
  Tracer(const Tracer &) = delete;
  ~Tracer() { free(memory); }

  /// Allocates the memory. Returns false if that fails.
  bool start() {
    if (!memory) memory = static_cast<char *>(malloc(room));
    return memory != nullptr;
  }

  /// Notes a read. Returns false if it is another one.
  bool takes(void *data, uint64_t start, size_t count) {
    const auto place = reinterpret_cast<uintptr_t>(data), base = reinterpret_cast<uintptr_t>(memory);
    if (place < base || place >= base + room || count > base + room - place) return false;
    areas.push_back({place - base, count, start});
    marks(areas.back(), [](char *mark) { *mark = filler(mark); return true; });
    return true;
  }

  /// Returns whether no mark has changed.
  bool is_unchanged(const ffmount_7z_area &area) {
    return marks(area, [](char *mark) { return *mark == filler(mark); });
  }

private:
  /// A character that is not 0 and differs between sectors.
  static char filler(char *mark) { return char(reinterpret_cast<uintptr_t>(mark) / step % 251 + 1); }

  /// Calls a function with a byte of each sector, the first and the last byte.
  template <typename Body> bool marks(const ffmount_7z_area &area, Body body) {
    char *start = memory + area.offset;
    for (size_t index = 0; index < area.count; index += step)
      if (!body(start + index)) return false;
    return area.count == 0 || body(start + area.count - 1);
  }
};

struct InputFile final : Owned<Input>, Owned<SizedStream> {
  ffmount_7z_input input;
  uint64_t position = 0;
  bool has_failed = false;
  Tracer *tracer = nullptr;

  explicit InputFile(const ffmount_7z_input &input) : input(input) {}

  Status query(const Identifier &id, void **object) override {
    *object = nullptr;
    if (id == base_id || id == sequential_input_id || id == input_id)
      *object = static_cast<Input *>(this);
    else if (id == size_id)
      *object = static_cast<SizedStream *>(this);
    return *object ? ok : unknown_interface;
  }

  uint32_t retain() override { return 2; }
  uint32_t release() override { return 1; }

  Status size(uint64_t *size) override {
    *size = input.size;
    return ok;
  }

  Status read(void *data, uint32_t size, uint32_t *count) override {
    if (count) *count = 0;
    if (position >= input.size || size == 0) return ok;
    const uint64_t rest = input.size - position;
    const size_t wanted = size < rest ? size : size_t(rest);
    const bool is_traced = tracer && tracer->takes(data, position, wanted);
    const int64_t came = is_traced ? int64_t(wanted) : input.read(input.context, position, data, wanted);
    if (came <= 0) {
      has_failed = true;
      return aborted;
    }
    position += uint64_t(came);
    if (count) *count = uint32_t(came);
    return ok;
  }

  Status seek(int64_t offset, uint32_t origin, uint64_t *place) override {
    const uint64_t start = origin == 0 ? 0 : origin == 1 ? position : input.size;
    uint64_t next = 0;
    if (origin > 2) return invalid_seek;
    if (offset < 0) {
      const uint64_t back = uint64_t(0) - uint64_t(offset);
      if (back > start) return invalid_seek;
      next = start - back;
    } else if (__builtin_add_overflow(start, uint64_t(offset), &next) || next > INT64_MAX) {
      return invalid_seek;
    }
    position = next;
    if (place) *place = next;
    return ok;
  }
};

/// The password of an archive.
struct Key {
  std::wstring text;
  bool is_known = false, is_missed = false, is_used = false;

  Status give(wchar_t **password) {
    *password = nullptr;
    if (!is_known) {
      is_missed = true;
      return aborted;
    }
    is_used = true;
    *password = make_text(text);
    return *password ? ok : out_of_memory;
  }
};

struct OpenArchive final : Owned<Opening>, Owned<Passwords> {
  Key &key;
  explicit OpenArchive(Key &key) : key(key) {}

  Status query(const Identifier &id, void **object) override {
    *object = nullptr;
    if (id == base_id || id == opening_id)
      *object = static_cast<Opening *>(this);
    else if (id == password_id)
      *object = static_cast<Passwords *>(this);
    return *object ? ok : unknown_interface;
  }
  uint32_t retain() override { return 2; }
  uint32_t release() override { return 1; }
  Status set_total(const uint64_t *, const uint64_t *) override { return ok; }
  Status set_completed(const uint64_t *, const uint64_t *) override { return ok; }
  Status password(wchar_t **password) override { return key.give(password); }
};

struct OutputFile final : Owned<SequentialOutput> {
  const ffmount_7z_output &output;
  bool has_failed = false;
  explicit OutputFile(const ffmount_7z_output &output) : output(output) {}

  Status query(const Identifier &id, void **object) override {
    *object = id == base_id || id == sequential_output_id ? static_cast<SequentialOutput *>(this) : nullptr;
    return *object ? ok : unknown_interface;
  }

  Status write(const void *data, uint32_t size, uint32_t *count) override {
    if (count) *count = 0;
    if (!output.write(output.context, data, size)) {
      has_failed = true;
      return aborted;
    }
    if (count) *count = size;
    return ok;
  }
};

struct ExtractArchive final : Owned<Extraction>, Owned<Passwords> {
  Archive *archive;
  Key &key;
  const ffmount_7z_output &output;
  OutputFile file;
  uint32_t entry = 0;
  bool is_wanted = false, has_failed = false;

  ExtractArchive(Archive *archive, Key &key, const ffmount_7z_output &output)
      : archive(archive), key(key), output(output), file(output) {}

  Status query(const Identifier &id, void **object) override {
    *object = nullptr;
    if (id == base_id || id == extraction_id)
      *object = static_cast<Extraction *>(this);
    else if (id == password_id)
      *object = static_cast<Passwords *>(this);
    return *object ? ok : unknown_interface;
  }
  uint32_t retain() override { return 2; }
  uint32_t release() override { return 1; }
  Status set_total(uint64_t) override { return ok; }
  Status set_completed(const uint64_t *) override { return ok; }
  Status password(wchar_t **password) override { return key.give(password); }

  Status stream(uint32_t number, SequentialOutput **stream, int32_t mode) override {
    *stream = nullptr;
    entry = number;
    // Of an entry that cannot be decoded, only the result is told, by the mode for tests.
    is_wanted = mode <= 1 && output.begin(output.context, number);
    if (is_wanted && mode == 0) *stream = &file;
    return ok;
  }

  Status prepare(int32_t) override { return ok; }

  Status result(int32_t result) override {
    if (!is_wanted) return ok;
    is_wanted = false;
    const bool is_encrypted = [this] {
      Variant value;
      uint64_t number = 0;
      return archive->property(entry, FFMOUNT_7Z_IS_ENCRYPTED, &value) == ok && value.number(number) && number != 0;
    }();
    ffmount_7z_result meaning = FFMOUNT_7Z_DAMAGED;
    if (result == 0)
      meaning = FFMOUNT_7Z_OK;
    else if (result == 1)
      meaning = FFMOUNT_7Z_UNSUPPORTED;
    else if (result == 9 || key.is_missed || (is_encrypted && (result == 2 || result == 3)))
      meaning = FFMOUNT_7Z_LOCKED;
    else if (result == 3)
      meaning = FFMOUNT_7Z_WRONG_SUM;
    if (output.end(output.context, meaning)) return ok;
    has_failed = true;
    return aborted;
  }
};

struct Library {
  Status (*create)(const Identifier *, const Identifier *, void **);
  Status (*format_property)(uint32_t, uint32_t, Variant *);
  uint32_t formats;
} library;

} // namespace

bool ffmount_7z_load(const char *path) try {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  auto count = reinterpret_cast<Status (*)(uint32_t *)>(dlsym(handle, "GetNumberOfFormats"));
  auto about = reinterpret_cast<Status (*)(uint32_t, Variant *)>(dlsym(handle, "GetModuleProp"));
  library.create = reinterpret_cast<decltype(library.create)>(dlsym(handle, "CreateObject"));
  library.format_property = reinterpret_cast<decltype(library.format_property)>(dlsym(handle, "GetHandlerProperty2"));
  if (!count || !about || !library.create || !library.format_property) return false;
  // Older versions have a virtual destructor in every class. Newer ones tell.
  Variant kind;
  uint64_t destructors = 1;
  if (about(0, &kind) != ok || !kind.number(destructors) || destructors != 0) return false;
  return count(&library.formats) == ok;
} catch (...) {
  return false;
}

int ffmount_7z_format(const char *name) try {
  for (uint32_t index = 0; index < library.formats; index++) {
    Variant value;
    if (library.format_property(index, 0, &value) != ok || value.type != Variant::text_type || !value.text) continue;
    const std::string found(value.text, value.text + wcslen(value.text));
    if (strcasecmp(found.c_str(), name) == 0) return int(index);
  }
  return -1;
} catch (...) {
  return -1;
}

struct ffmount_7z_archive {
  InputFile input;
  Tracer tracer;
  Key key;
  OpenArchive opening{key};
  Archive *archive = nullptr;
  Streams *streams = nullptr;
  RawProperties *raw = nullptr;

  explicit ffmount_7z_archive(const ffmount_7z_input &input) : input(input) {}
  ~ffmount_7z_archive() {
    if (streams) streams->release();
    if (raw) raw->release();
    if (!archive) return;
    archive->close();
    archive->release();
  }
};

static std::wstring wide(const char *text) {
  std::wstring result;
  for (auto *next = reinterpret_cast<const unsigned char *>(text); *next; next++) {
    const unsigned char byte = *next;
    if (byte < 0x80 || result.empty() || byte >= 0xC0)
      result += wchar_t(byte < 0x80 ? byte : byte < 0xE0 ? byte & 0x1F : byte < 0xF0 ? byte & 0xF : byte & 7);
    else
      result.back() = wchar_t((uint32_t(result.back()) << 6 | (byte & 0x3F)) & 0x1FFFFF);
  }
  return result;
}

ffmount_7z_result ffmount_7z_open(
    int format, const ffmount_7z_input *input, const char *password, ffmount_7z_archive **result) try {
  *result = nullptr;
  Variant value;
  if (format < 0 || library.format_property(uint32_t(format), 1, &value) != ok || value.type != Variant::text_type ||
      !value.text || value.size() != sizeof(Identifier))
    return FFMOUNT_7Z_UNSUPPORTED;
  Identifier id;
  memcpy(&id, value.text, sizeof id);
  auto *made = new ffmount_7z_archive(*input);
  struct Guard {
    ffmount_7z_archive *archive;
    ~Guard() { delete archive; }
  } guard{made};
  made->key.is_known = password != nullptr;
  if (password) made->key.text = wide(password);
  void *object = nullptr;
  if (library.create(&id, &archive_id, &object) != ok || !object) return FFMOUNT_7Z_UNSUPPORTED;
  made->archive = static_cast<Archive *>(object);
  const uint64_t start = 0;
  const Status status = made->archive->open(&made->input, &start, &made->opening);
  if (made->input.has_failed) return FFMOUNT_7Z_STOPPED;
  if (status == out_of_memory) return FFMOUNT_7Z_NO_MEMORY;
  if (status != ok) {
    if (made->key.is_missed || made->key.is_used) return FFMOUNT_7Z_LOCKED;
    return status == no ? FFMOUNT_7Z_FOREIGN : status == not_implemented ? FFMOUNT_7Z_UNSUPPORTED : FFMOUNT_7Z_DAMAGED;
  }
  void *streams = nullptr;
  if (made->archive->query(streams_id, &streams) == ok) made->streams = static_cast<Streams *>(streams);
  void *raw = nullptr;
  if (made->archive->query(raw_properties_id, &raw) == ok) made->raw = static_cast<RawProperties *>(raw);
  *result = made;
  guard.archive = nullptr;
  return FFMOUNT_7Z_OK;
} catch (const std::bad_alloc &) {
  return FFMOUNT_7Z_NO_MEMORY;
} catch (...) {
  return FFMOUNT_7Z_DAMAGED;
}

void ffmount_7z_close(ffmount_7z_archive *archive) try { delete archive; } catch (...) {
}

uint32_t ffmount_7z_count(ffmount_7z_archive *archive) try {
  uint32_t count = 0;
  return archive->archive->count(&count) == ok ? count : 0;
} catch (...) {
  return 0;
}

bool ffmount_7z_number(ffmount_7z_archive *archive, uint32_t entry, ffmount_7z_property property, uint64_t *value) try {
  Variant found;
  return archive->archive->property(entry, property, &found) == ok && found.number(*value);
} catch (...) {
  return false;
}

bool ffmount_7z_archive_number(ffmount_7z_archive *archive, ffmount_7z_property property, uint64_t *value) try {
  Variant found;
  return archive->archive->archive_property(property, &found) == ok && found.number(*value);
} catch (...) {
  return false;
}

bool ffmount_7z_time(
    ffmount_7z_archive *archive, uint32_t entry, ffmount_7z_property property, uint64_t *value,
    uint32_t *nanoseconds) try {
  Variant found;
  constexpr uint16_t time_type = 64;
  if (archive->archive->property(entry, property, &found) != ok || found.type != time_type) return false;
  *value = found.whole;
  *nanoseconds = found.precision && found.nanoseconds < 100 ? found.nanoseconds : 0;
  return true;
} catch (...) {
  return false;
}

int64_t ffmount_7z_text(
    ffmount_7z_archive *archive, uint32_t entry, ffmount_7z_property property, uint32_t *characters, size_t room) try {
  Variant found;
  if (archive->archive->property(entry, property, &found) != ok || found.type != Variant::text_type || !found.text)
    return -1;
  const size_t length = found.size() / sizeof(wchar_t);
  for (size_t index = 0; index < length && index < room; index++) characters[index] = uint32_t(found.text[index]);
  return int64_t(length);
} catch (...) {
  return -1;
}

size_t ffmount_7z_reparse_point(ffmount_7z_archive *archive, uint32_t entry, void *buffer, size_t room) try {
  constexpr uint32_t reparse_point = 89, is_raw = 1;
  const void *data = nullptr;
  uint32_t size = 0, type = 0;
  if (!archive->raw || archive->raw->property(entry, reparse_point, &data, &size, &type) != ok || type != is_raw || !data ||
      size > room)
    return 0;
  memcpy(buffer, data, size);
  return size;
} catch (...) {
  return 0;
}

struct ffmount_7z_stream {
  Input *input;
};

ffmount_7z_stream *ffmount_7z_stream_open(ffmount_7z_archive *archive, uint32_t entry) try {
  if (!archive->streams) return nullptr;
  SequentialInput *found = nullptr;
  const Status status = archive->streams->stream(entry, &found);
  if (!found) return nullptr;
  void *input = nullptr;
  if (status == ok) found->query(input_id, &input);
  found->release();
  if (!input) return nullptr;
  auto *stream = new (std::nothrow) ffmount_7z_stream{static_cast<Input *>(input)};
  if (!stream) static_cast<Input *>(input)->release();
  return stream;
} catch (...) {
  return nullptr;
}

void ffmount_7z_stream_close(ffmount_7z_stream *stream) try {
  if (!stream) return;
  stream->input->release();
  delete stream;
} catch (...) {
}

int64_t ffmount_7z_stream_read(ffmount_7z_stream *stream, uint64_t offset, void *buffer, size_t count) try {
  if (offset > INT64_MAX || stream->input->seek(int64_t(offset), 0, nullptr) != ok) return -1;
  size_t done = 0;
  while (done < count) {
    const size_t rest = count - done;
    uint32_t came = 0;
    const Status status =
        stream->input->read(static_cast<char *>(buffer) + done, rest < (1u << 30) ? uint32_t(rest) : 1u << 30, &came);
    if (came > rest) return -1;
    done += came;
    if (status != ok) return -1;
    if (came == 0) break;
  }
  return int64_t(done);
} catch (...) {
  return -1;
}

int64_t ffmount_7z_stream_areas(
    ffmount_7z_archive *archive, ffmount_7z_stream *stream, uint64_t size, ffmount_7z_area *areas, size_t room,
    uint64_t *budget) try {
  Tracer &tracer = archive->tracer;
  if (!tracer.start() || stream->input->seek(0, 0, nullptr) != ok) return -1;
  struct Guard {
    InputFile &input;
    ~Guard() { input.tracer = nullptr; }
  } guard{archive->input};
  archive->input.tracer = &tracer;
  // The first read is short: it decodes little if bytes have to be decoded.
  size_t count = 0, step = 64 << 10;
  uint64_t place = 0;
  while (place < size) {
    tracer.areas.clear();
    const uint32_t wanted = uint32_t(size - place < step ? size - place : step);
    uint32_t came = 0;
    if (stream->input->read(tracer.memory, wanted, &came) != ok || came == 0 || came > wanted) return -1;
    uint64_t zeros = came;
    for (const auto &area : tracer.areas) zeros -= area.count < zeros ? area.count : zeros;
    const uint64_t cost = 1 + (zeros >> 14) + (came >> 20);
    if (*budget < cost) return -1;
    *budget -= cost;
    size_t end = 0;
    auto is_zero = [&](size_t next) {
      const char *start = tracer.memory + end;
      return end == next || (*start == 0 && memcmp(start, start + 1, next - end - 1) == 0);
    };
    for (const auto &area : tracer.areas) {
      // The areas are in order, and the library has kept them all as they came.
      if (area.offset < end || area.count > came || area.offset > came - area.count || !tracer.is_unchanged(area) ||
          !is_zero(area.offset))
        return -1;
      end = area.offset + area.count;
      if (area.count == 0) continue;
      const uint64_t offset = place + area.offset;
      ffmount_7z_area *last = count > 0 ? &areas[count - 1] : nullptr;
      if (last && last->offset + last->count == offset && last->start + last->count == area.start) {
        last->count += area.count;
      } else {
        if (count == room) return -1;
        areas[count++] = {offset, area.count, area.start};
      }
    }
    if (!is_zero(came)) return -1;
    place += came;
    step = Tracer::room;
  }
  return int64_t(count);
} catch (...) {
  return -1;
}

ffmount_7z_result ffmount_7z_extract(
    ffmount_7z_archive *archive, const uint32_t *entries, uint32_t count, const ffmount_7z_output *output) try {
  archive->input.has_failed = false;
  ExtractArchive extraction(archive->archive, archive->key, *output);
  const Status status = archive->archive->extract(entries, count, 0, &extraction);
  if (archive->key.is_missed) return FFMOUNT_7Z_LOCKED;
  if (extraction.file.has_failed || extraction.has_failed || archive->input.has_failed) return FFMOUNT_7Z_STOPPED;
  if (status == out_of_memory) return FFMOUNT_7Z_NO_MEMORY;
  return status == ok ? FFMOUNT_7Z_OK : status == not_implemented ? FFMOUNT_7Z_UNSUPPORTED : FFMOUNT_7Z_DAMAGED;
} catch (const std::bad_alloc &) {
  return FFMOUNT_7Z_NO_MEMORY;
} catch (...) {
  return FFMOUNT_7Z_DAMAGED;
}
