/* wire.h - messages between a process that has a lab's tests in memory (remote.c) and the one
 * that compiles and runs untrusted kernels (serve.c): both read what comes as if it were
 * hostile.
 */
#ifndef SL_EMULATE_WIRE_H
#define SL_EMULATE_WIRE_H

#include <signal.h>

#include "../backend.h"

enum emu_kind {
    EMU_HELLO, /* -> status: whether kernels can be compiled there */
    EMU_BUILD, /* a kernel -> status, [log] or its number */
    EMU_RUN,   /* a launch and its regions -> status, the regions that it wrote */
    EMU_CLOSE, /* a number -> nothing */
    EMU_ANSWER,
    EMU_TIME_IS_UP
};

/* Of one message: what tensors a launch may have. */
#define EMU_MOST_BYTES ((size_t)256 << 20)

typedef struct emu_message {
    uint32_t kind;
    unsigned char *data;
    size_t n, room;
    size_t at;   /* how far it has been read */
    bool failed; /* no memory to write, or nothing left to read: what was read since is 0 */
} emu_message;

void emu_message_free(emu_message *m);
void emu_put(emu_message *m, const void *data, size_t n);
void emu_put_number(emu_message *m, uint64_t number);
void emu_put_text(emu_message *m, const char *text); /* NULL is another one than "" */
void emu_put_error(emu_message *m, sl_status status, const sl_error *err);

uint64_t emu_get_number(emu_message *m, uint64_t most);
/* Points into the message, aligned for any element; NULL: there are not so many bytes. */
void *emu_get(emu_message *m, size_t n);
/* NULL as well. */
const char *emu_get_text(emu_message *m);
sl_status emu_get_error(emu_message *m, sl_error *err);

/* Block. False: the other end is gone, or *interrupted (NULL: nothing interrupts). */
bool emu_send(int fd, const emu_message *m, const volatile sig_atomic_t *interrupted);
bool emu_receive(int fd, emu_message *m, const volatile sig_atomic_t *interrupted);

#endif
