/* wire.c - messages between two processes of one program. */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"

enum { ALIGNMENT = 64, MAGIC = 0x6b6c736d };

typedef struct head {
    uint32_t magic, kind;
    uint64_t n;
} head;

void emu_message_free(emu_message *m)
{
    free(m->data);
    *m = (emu_message){ 0 };
}

/* ---- writing ---- */

static bool make_room(emu_message *m, size_t n)
{
    return !m->failed && n <= EMU_MOST_BYTES - m->n && SL__GROW(m->data, m->room, m->n + n);
}

static void put_bytes(emu_message *m, const void *data, size_t n)
{
    if (!make_room(m, n)) {
        m->failed = true;
        return;
    }
    if (n) memcpy(m->data + m->n, data, n);
    m->n += n;
}

void emu_put(emu_message *m, const void *data, size_t n)
{
    static const unsigned char zeros[ALIGNMENT];
    put_bytes(m, zeros, (ALIGNMENT - m->n % ALIGNMENT) % ALIGNMENT);
    put_bytes(m, data, n);
}

void emu_put_number(emu_message *m, uint64_t number) { put_bytes(m, &number, sizeof number); }

void emu_put_text(emu_message *m, const char *text)
{
    size_t n = text ? strlen(text) + 1 : 0;
    emu_put_number(m, n);
    put_bytes(m, text, n);
}

void emu_put_error(emu_message *m, sl_status status, const sl_error *err)
{
    emu_put_number(m, (uint64_t) - (int64_t)status); /* errors are negative */
    if (status != SL_OK) emu_put_text(m, err->msg);
}

/* ---- reading ---- */

static void *take(emu_message *m, size_t n)
{
    void *data = m->data + m->at;
    if (m->failed || n > m->n - m->at) {
        m->failed = true;
        return NULL;
    }
    m->at += n;
    return data;
}

uint64_t emu_get_number(emu_message *m, uint64_t most)
{
    uint64_t number = 0;
    const void *data = take(m, sizeof number);
    if (data) memcpy(&number, data, sizeof number);
    if (number <= most) return number;
    m->failed = true;
    return 0;
}

void *emu_get(emu_message *m, size_t n)
{
    if (!take(m, (ALIGNMENT - m->at % ALIGNMENT) % ALIGNMENT)) return NULL;
    return take(m, n);
}

const char *emu_get_text(emu_message *m)
{
    size_t n = (size_t)emu_get_number(m, EMU_MOST_BYTES);
    const char *text = n ? take(m, n) : NULL;
    if (text && memchr(text, '\0', n) == text + n - 1) return text;
    if (n) m->failed = true;
    return NULL;
}

sl_status emu_get_error(emu_message *m, sl_error *err)
{
    sl_status status = (sl_status) - (int64_t)emu_get_number(m, 1000);
    const char *text = status != SL_OK ? emu_get_text(m) : NULL;
    if (m->failed || (status != SL_OK && !text))
        return sl_fail(err, SL_EIO, "the process that runs kernels answered nonsense");
    return status == SL_OK ? SL_OK : sl_fail(err, status, "%s", text);
}

/* ---- the socket ---- */

bool emu_send(int fd, const emu_message *m, const volatile sig_atomic_t *interrupted)
{
    const head first = { MAGIC, m->kind, m->n };
    return !m->failed && sl__write_all(fd, &first, sizeof first, interrupted)
           && sl__write_all(fd, m->data, m->n, interrupted);
}

bool emu_receive(int fd, emu_message *m, const volatile sig_atomic_t *interrupted)
{
    head first;
    *m = (emu_message){ 0 };
    if (!sl__read_all(fd, &first, sizeof first, interrupted) || first.magic != MAGIC
        || first.n > EMU_MOST_BYTES)
        return false;
    m->kind = first.kind;
    if (!make_room(m, (size_t)first.n)) return false;
    m->n = (size_t)first.n;
    if (sl__read_all(fd, m->data, m->n, interrupted)) return true;
    emu_message_free(m);
    return false;
}
