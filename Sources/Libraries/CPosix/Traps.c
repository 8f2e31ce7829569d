// Thread-local variables, and a signal handler that may use nothing else.
#include "CPosix.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static _Thread_local volatile uint64_t subject, node;
static _Thread_local int32_t offered = -1;
static _Thread_local char alternate[16 << 10] __attribute__((aligned(16)));
static struct ffmount_traps *traps;

void ffmount_work_on(struct ffmount_work work) {
    subject = work.subject;
    node = work.node;
}

struct ffmount_work ffmount_present_work(void) { return (struct ffmount_work){subject, node}; }

static void record(int number) {
    const uint64_t place = __atomic_fetch_add(&traps->count, 1, __ATOMIC_SEQ_CST) % FFMOUNT_TRAPS;
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    traps->all[place] = (struct ffmount_trap){subject, node, 0, (uint64_t)now.tv_sec, (uint64_t)number};
    signal(number, SIG_DFL);
    raise(number);
}

void ffmount_record_traps(struct ffmount_traps *place) {
    traps = place;
    const int numbers[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    struct sigaction action = {.sa_handler = record, .sa_flags = SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
    ffmount_use_alternate_stack();
}

void ffmount_use_alternate_stack(void) {
    if (!traps) return;
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
}

void ffmount_offer_slot(int32_t slot) { offered = slot; }

int32_t ffmount_take_slot(void) {
    const int32_t slot = offered;
    offered = -1;
    return slot;
}
