// The first code of each program of a bundle. It finds the interpreter of the program, ld.so, as the kernel does for other
// programs: the system's if the system's C library is as new as the bundle's, otherwise that of the bundle, which then finds
// the other libraries of the bundle's C library.
//
// scripts/packaging/libraries appends this code to the program as a segment, and makes it the entry. The kernel starts such a
// program like a static one, and so nothing else changes: /proc/self/exe, the name of the process, and starts by descriptor.
// The code is linked without a library, has no data that is written, and reads files only by pread: a file that is cut
// while it is read, or has any other content, leads to the bundle's library or to a message.
#include <elf.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The greatest number of headers, of entries of a dynamic section, and of bytes of versions. Others are not looked at.
enum { page = 4096, most_headers = 32, most_entries = 128, most_versions = 8192 };
// More than any ld.so has in memory.
static const uint64_t most_memory = 64 << 20;

// What follows the code. Addresses are those of the program's headers.
struct table {
    // Of this code, of the program's own entry, and of its dynamic section.
    uint64_t place, entry, dynamic;
    // The length of the bundle's folder of the C library in the search path, which begins with it, and its separator.
    uint64_t own_length;
    // The hash of the latest version that the bundle's C library has, such as GLIBC_2.36.
    uint64_t version;
    // The bundle's ld.so, from the folder of the program.
    char interpreter[64];
    // The program's headers: with that of the system's interpreter, which those in the file lack.
    uint64_t count;
    Elf64_Phdr headers[];
};
#define hidden __attribute__((visibility("hidden")))
extern const hidden struct table table;
// The start of this code.
extern const hidden char code[];

struct start {
    void *entry;
    uint64_t *stack;
};

// Room is for what `add_variable` puts below.
__asm__(".section .text.start, \"ax\"\n"
        "mov %rsp, %rdi\n"
        "xor %ebp, %ebp\n"
        "sub $64, %rsp\n"
        "call find_start\n"
        "mov %rdx, %rsp\n"
        "xor %edx, %edx\n"
        "jmp *%rax\n"
        ".text\n");

// Returns what the kernel does: errors are -4095 to -1.
static long call(long number, long a, long b, long c, long d, long e, long f) {
    register long d_ __asm__("r10") = d, e_ __asm__("r8") = e, f_ __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(d_), "r"(e_), "r"(f_)
                     : "rcx", "r11", "memory");
    return number;
}

static int open_file(const char *path) { return (int)call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0); }
static void close_file(int file) { call(SYS_close, file, 0, 0, 0, 0, 0); }
static int exists(const char *path) { return call(SYS_access, (long)path, R_OK, 0, 0, 0, 0) == 0; }

static int read_at(int file, void *bytes, size_t count, uint64_t place) {
    return place <= INT64_MAX && call(SYS_pread64, file, (long)bytes, (long)count, (long)place, 0, 0) == (long)count;
}

static char *map(uint64_t address, size_t length, int protection, int flags, int file, uint64_t place) {
    return (char *)call(SYS_mmap, (long)address, (long)length, protection, flags, file, (long)place);
}

static int is_error(const void *result) { return (uint64_t)result > -4096ul; }
static uint64_t smaller(uint64_t one, uint64_t other) { return one < other ? one : other; }

static void copy(void *to, const void *from, size_t count) {
    for (size_t i = 0; i < count; i++) ((char *)to)[i] = ((const char *)from)[i];
}

static size_t length(const char *text) {
    size_t count = 0;
    while (text[count]) count++;
    return count;
}

// Whether a text begins with another.
static int begins(const char *text, const char *start) {
    while (*start && *text == *start) text++, start++;
    return !*start;
}

// Writes the folder of the file that a link of /proc leads to, with `name` in it, to `path` of PATH_MAX bytes.
static int find_beside(char *path, const char *link, const char *name) {
    long end = call(SYS_readlink, (long)link, (long)path, PATH_MAX, 0, 0, 0);
    while (end > 0 && path[end - 1] != '/') end--;
    const size_t count = length(name) + 1;
    if (end <= 0 || (size_t)end + count > PATH_MAX) return 0;
    copy(path + end, name, count);
    return 1;
}

// The headers of a library.
struct library {
    int file;
    uint64_t size, entry;
    unsigned count;
    Elf64_Phdr headers[most_headers];
};

static int read_library(struct library *library, int file) {
    Elf64_Ehdr head;
    struct stat status;
    if (!read_at(file, &head, sizeof head, 0) || call(SYS_fstat, file, (long)&status, 0, 0, 0, 0) < 0) return 0;
    if (!begins((const char *)head.e_ident, ELFMAG "\x02\x01") || head.e_machine != EM_X86_64 || head.e_type != ET_DYN) return 0;
    if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > most_headers || head.e_phnum == 0) return 0;
    library->file = file;
    library->size = (uint64_t)status.st_size;
    library->entry = head.e_entry;
    library->count = head.e_phnum;
    if (!read_at(file, library->headers, head.e_phnum * sizeof(Elf64_Phdr), head.e_phoff)) return 0;
    for (unsigned i = 0; i < library->count; i++) {
        const Elf64_Phdr *part = library->headers + i;
        if (part->p_type != PT_LOAD) continue;
        if (part->p_offset > library->size || part->p_filesz > library->size - part->p_offset) return 0;
        if (part->p_vaddr > most_memory || part->p_memsz > most_memory || part->p_filesz > part->p_memsz) return 0;
        if (part->p_vaddr % page != part->p_offset % page) return 0;
    }
    return 1;
}

// Whether a C library has the version of the bundle's. A library keeps the versions of earlier ones.
static int has_version(const struct library *library) {
    Elf64_Dyn dynamic[most_entries];
    char versions[most_versions];
    uint64_t address = 0, size = 0;
    for (unsigned i = 0; i < library->count; i++) {
        const Elf64_Phdr *part = library->headers + i;
        if (part->p_type != PT_DYNAMIC) continue;
        size = smaller(part->p_filesz, sizeof dynamic);
        if (!read_at(library->file, dynamic, size, part->p_offset)) return 0;
    }
    for (uint64_t i = 0; i < size / sizeof *dynamic && dynamic[i].d_tag != DT_NULL; i++)
        if (dynamic[i].d_tag == DT_VERDEF) address = dynamic[i].d_un.d_ptr;
    size = 0;
    for (unsigned i = 0; i < library->count; i++) {
        const Elf64_Phdr *part = library->headers + i;
        const uint64_t before = address - part->p_vaddr;
        if (part->p_type != PT_LOAD || address < part->p_vaddr || before >= part->p_filesz) continue;
        size = smaller(part->p_filesz - before, sizeof versions);
        if (!read_at(library->file, versions, size, part->p_offset + before)) return 0;
    }
    Elf64_Verdef version;
    for (uint64_t place = 0; size >= sizeof version && place <= size - sizeof version; place += version.vd_next) {
        copy(&version, versions + place, sizeof version);
        if (version.vd_hash == table.version) return 1;
        if (version.vd_next < sizeof version) return 0;
    }
    return 0;
}

// Maps an ld.so. Returns its address, or NULL.
static char *load(const struct library *library) {
    uint64_t end = 0;
    for (unsigned i = 0; i < library->count; i++) {
        const Elf64_Phdr *part = library->headers + i;
        if (part->p_type == PT_LOAD && part->p_vaddr + part->p_memsz > end) end = part->p_vaddr + part->p_memsz;
    }
    end = (end + page - 1) & -(uint64_t)page;
    if (library->entry >= end) return NULL;
    // Keeps the place for all segments, which is zero beyond what is in the file.
    char *base = map(0, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (is_error(base)) return NULL;
    for (unsigned i = 0; i < library->count; i++) {
        const Elf64_Phdr *part = library->headers + i;
        if (part->p_type != PT_LOAD || part->p_memsz == 0) continue;
        const int protection = (part->p_flags & PF_R ? PROT_READ : 0) | (part->p_flags & PF_W ? PROT_WRITE : 0) |
                               (part->p_flags & PF_X ? PROT_EXEC : 0);
        const uint64_t before = part->p_vaddr % page;
        char *const bytes_end = base + part->p_vaddr + part->p_filesz, *const part_end = base + part->p_vaddr + part->p_memsz;
        char *const pages_end = (char *)(((uint64_t)bytes_end + page - 1) & -(uint64_t)page);
        if (part->p_filesz > 0 && is_error(map((uint64_t)base + part->p_vaddr - before, before + part->p_filesz, protection,
                                               MAP_PRIVATE | MAP_FIXED, library->file, part->p_offset - before)))
            return NULL;
        if (part->p_memsz == part->p_filesz) continue;
        if (!(part->p_flags & PF_W)) return NULL;
        for (volatile char *byte = bytes_end; part->p_filesz > 0 && byte < pages_end; byte++) *byte = 0;
        if (part_end > pages_end && is_error(map((uint64_t)pages_end, (size_t)(part_end - pages_end), protection,
                                                 MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0)))
            return NULL;
    }
    return base;
}

// Loads the system's interpreter if its C library is new enough. Returns its address, or NULL.
static char *load_system(const char *path, struct library *library) {
    char link[] = "/proc/self/fd/\0\0\0\0\0\0\0\0\0\0", beside[PATH_MAX];
    const int interpreter = open_file(path);
    if (interpreter < 0) return NULL;
    unsigned digits = 1, end = sizeof "/proc/self/fd/" - 1;
    for (int rest = interpreter; rest >= 10; rest /= 10) digits++;
    for (int rest = interpreter; digits-- > 0; rest /= 10) link[end + digits] = (char)('0' + rest % 10);
    char *base = NULL;
    // The interpreter and the library are always in one folder.
    const int file = find_beside(beside, link, "libc.so.6") ? open_file(beside) : -1;
    if (file >= 0) {
        if (read_library(library, file) && has_version(library) && read_library(library, interpreter)) base = load(library);
        close_file(file);
    }
    close_file(interpreter);
    return base;
}

static _Noreturn void fail(const char *name, const char *path, const char *reason) {
    const char *const words[] = {name, ": cannot load ", path, ": ", reason, "\n"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) call(SYS_write, 2, (long)words[i], (long)length(words[i]), 0, 0, 0);
    for (;;) call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

// Adds a variable to the environment at the start of the stack. Returns the new start.
static uint64_t *add_variable(uint64_t *stack, const char *variable) {
    // The stack has to begin at a multiple of 16 bytes.
    uint64_t *const variables = stack + stack[0] + 2;
    uint64_t *from = stack, *to = stack - 2;
    while (from < variables) *to++ = *from++;
    *to++ = (uint64_t)variable;
    while (*from) *to++ = *from++;
    for (*to++ = *from++; *from != AT_NULL; from += 2, to += 2) {
        to[0] = from[0];
        to[1] = from[1];
    }
    to[0] = to[1] = AT_NULL;
    return stack - 2;
}

// Has iconv of the bundle's C library, which is Debian's, find the modules of the system, whose own library finds them there,
// too. Returns the start of the stack.
static uint64_t *find_character_sets(uint64_t *stack) {
    static const char variable[] = "GCONV_PATH=", other[] = "GCONV_PATH=/usr/lib64/gconv", third[] = "GCONV_PATH=/usr/lib/gconv";
    for (uint64_t *given = stack + stack[0] + 2; *given; given++)
        if (begins((const char *)*given, variable)) return stack;
    if (exists("/usr/lib/x86_64-linux-gnu/gconv")) return stack;
    if (exists(other + sizeof variable - 1)) return add_variable(stack, other);
    if (exists(third + sizeof variable - 1)) return add_variable(stack, third);
    return stack;
}

#define AGAIN " (unpack the download of ffmount again)"

// Loads the bundle's interpreter. Returns its address, or ends the process with a message.
static char *load_own(const char *name, struct library *library) {
    char path[PATH_MAX];
    if (!find_beside(path, "/proc/self/exe", table.interpreter))
        fail(name, table.interpreter, "the folder of the program is not known (mount /proc)");
    const int file = open_file(path);
    if (file < 0) fail(name, path, "it is missing, or may not be read" AGAIN);
    char *base = read_library(library, file) ? load(library) : NULL;
    if (!base) fail(name, path, "it is damaged" AGAIN);
    close_file(file);
    return base;
}

// Loads the interpreter, and returns where it starts. `stack` is what the kernel gives: the number of arguments, these, NULL,
// the environment, NULL, and what else it tells.
__attribute__((used)) struct start find_start(uint64_t *stack) {
    const uint64_t shift = (uint64_t)code - table.place;
    const char *name = stack[0] ? (const char *)stack[1] : "ffmount", *wanted = "";
    for (uint64_t i = 0; i < table.count; i++)
        if (table.headers[i].p_type == PT_INTERP) wanted = (const char *)(shift + table.headers[i].p_vaddr);
    struct library library;
    char *base = load_system(wanted, &library);
    if (!base) {
        base = load_own(name, &library);
        // The search path begins with the folder of the C library.
        for (Elf64_Dyn *entry = (Elf64_Dyn *)(shift + table.dynamic); entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_RPATH) entry->d_un.d_val -= table.own_length;
        stack = find_character_sets(stack);
    }
    uint64_t *told = stack + stack[0] + 2;
    while (*told) told++;
    for (told++; *told != AT_NULL; told += 2) {
        if (told[0] == AT_PHDR) told[1] = (uint64_t)table.headers;
        if (told[0] == AT_PHNUM) told[1] = table.count;
        if (told[0] == AT_ENTRY) told[1] = shift + table.entry;
        if (told[0] == AT_BASE) told[1] = (uint64_t)base;
    }
    return (struct start){base + library.entry, stack};
}
