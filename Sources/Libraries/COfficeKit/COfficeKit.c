#define _GNU_SOURCE
#include "COfficeKit.h"

#include <LibreOfficeKit/LibreOfficeKitInit.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *library;

int ffmount_office_load(const char *folder) {
  char *path = NULL;
  library = lok_dlopen(folder, &path);
  free(path);
  return library ? 0 : -1;
}

LibreOfficeKit *ffmount_office_start(const char *folder, const char *profile) {
  LokHookFunction2 *start = library ? (LokHookFunction2 *)lok_dlsym(library, "libreofficekit_hook_2") : NULL;
  LibreOfficeKit *kit = start ? start(folder, profile) : NULL;
  // comphelper::LibreOfficeKit::setActive(bool)
  void (*be_active)(bool) = kit ? (void (*)(bool))lok_dlsym(library, "_ZN10comphelper14LibreOfficeKit9setActiveEb") : NULL;
  if (be_active) be_active(false);
  return kit;
}

static struct {
  const char *document, *const *passwords;
  size_t count, given;
  bool asked;
} lock;

// Called in a thread that holds no lock of LibreOffice. It goes on when it has been given an answer, by the document's whole
// name, which is not in every `text`.
static void answer(int kind, const char *text, void *data) {
  const int asks_for_password = 20;
  LibreOfficeKit *kit = data;
  (void)text;
  if (kind != asks_for_password) return;
  lock.asked = true;
  const char *password = lock.given < lock.count ? lock.passwords[lock.given++] : NULL;
  kit->pClass->setDocumentPassword(kit, lock.document, password);
}

LibreOfficeKitDocument *ffmount_office_open(LibreOfficeKit *kit, const char *url, const char *const *passwords, size_t count) {
  const unsigned long long may_ask = 1;
  lock.document = url;
  lock.passwords = passwords;
  lock.count = count;
  kit->pClass->setOptionalFeatures(kit, may_ask);
  kit->pClass->registerCallback(kit, answer, kit);
  LibreOfficeKitDocument *document;
  size_t before;
  do {
    before = lock.given;
    // No dialogue waits for an answer.
    document = kit->pClass->documentLoadWithOptions(kit, url, "Batch=true");
    // The reader of some formats gives up after one wrong password.
  } while (!document && lock.given > before && lock.given < lock.count);
  return document;
}

bool ffmount_office_asked(void) { return lock.asked; }

size_t ffmount_office_given(void) { return lock.given; }

static struct {
  const char *ending, *url;
} stand_in;

void ffmount_office_stand_in(const char *ending, const char *url) {
  stand_in.ending = ending;
  stand_in.url = url;
}

// A string of LibreOffice's, in UTF-16.
typedef struct {
  int32_t references, length;
  uint16_t text[];
} office_string;

static bool ends(const office_string *string, const char *ending) {
  size_t count = strlen(ending), length = (size_t)string->length;
  if (length < count) return false;
  for (size_t index = 0; index < count; index++)
    if (string->text[length - count + index] != (unsigned char)ending[index]) return false;
  return true;
}

int osl_openFile(office_string *url, void **file, uint32_t flags);

int osl_openFile(office_string *url, void **file, uint32_t flags) {
  int (*call)(office_string *, void **, uint32_t) =
      (int (*)(office_string *, void **, uint32_t))lok_dlsym(library, "osl_openFile");
  const int unsupported = 95;
  if (!call) return unsupported;
  if (!stand_in.ending || !ends(url, stand_in.ending)) return call(url, file, flags);
  size_t length = strlen(stand_in.url);
  office_string *other = calloc(1, sizeof *other + (length + 1) * sizeof(uint16_t));
  if (!other) return unsupported;
  other->references = 1;
  other->length = (int32_t)length;
  for (size_t index = 0; index < length; index++) other->text[index] = (unsigned char)stand_in.url[index];
  int result = call(other, file, flags);
  // Kept if somebody has counted it meanwhile.
  if (__atomic_sub_fetch(&other->references, 1, __ATOMIC_ACQ_REL) == 0) free(other);
  return result;
}

static int64_t time_of_day = -1;

void ffmount_office_set_time(int64_t seconds) { time_of_day = seconds; }

int clock_gettime(clockid_t clock, struct timespec *result) {
  static int (*others)(clockid_t, struct timespec *);
  if (time_of_day >= 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    *result = (struct timespec){.tv_sec = time_of_day};
    return 0;
  }
  // Two threads may do this at once, with one result.
  int (*call)(clockid_t, struct timespec *) = __atomic_load_n(&others, __ATOMIC_RELAXED);
  if (!call) {
    *(void **)&call = dlsym(RTLD_NEXT, "clock_gettime");
    __atomic_store_n(&others, call, __ATOMIC_RELAXED);
  }
  return call ? call(clock, result) : (int)syscall(SYS_clock_gettime, clock, result);
}

int rtl_random_getBytes(void *pool, void *buffer, size_t count);

// A step of SplitMix64 for each byte; its state is one for all threads.
int rtl_random_getBytes(void *pool, void *buffer, size_t count) {
  static uint64_t state = 0;
  (void)pool;
  for (size_t index = 0; index < count; index++) {
    uint64_t mixed = __atomic_add_fetch(&state, 0x9E3779B97F4A7C15, __ATOMIC_RELAXED);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    ((unsigned char *)buffer)[index] = (unsigned char)(mixed >> 56);
  }
  return 0;
}

time_t time(time_t *result) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
