// Thread-local variables, and a signal handler that may use nothing else.
#include "CPosix.h"

#include <signal.h>
#include <stddef.h>

static _Thread_local uint32_t *volatile blamed;
static _Thread_local int32_t offered = -1;
static _Thread_local char alternate[16 << 10] __attribute__((aligned(16)));

void ffmount_blame(uint32_t *counter) { blamed = counter; }

uint32_t *ffmount_blamed(void) { return blamed; }

static void count(int number) {
    if (blamed) __atomic_add_fetch(blamed, 1, __ATOMIC_SEQ_CST);
    signal(number, SIG_DFL);
    raise(number);
}

void ffmount_count_traps(void) {
    const int numbers[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
    ffmount_use_alternate_stack();
}

void ffmount_use_alternate_stack(void) {
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
}

void ffmount_offer_slot(int32_t slot) { offered = slot; }

int32_t ffmount_take_slot(void) {
    const int32_t slot = offered;
    offered = -1;
    return slot;
}
