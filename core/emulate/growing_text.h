/* growing_text.h - text that grows. */
#ifndef SL_EMULATE_GROWING_TEXT_H
#define SL_EMULATE_GROWING_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct emu_text {
    char *data; /* NUL-terminated, or NULL while nothing was added */
    size_t n, room;
    bool failed; /* no memory: what was added since is lost */
} emu_text;

void emu_text_add(emu_text *text, const char *data, size_t n);
void emu_text_puts(emu_text *text, const char *string);
/* Of at most 2,000 characters. */
__attribute__((format(printf, 2, 3))) void emu_text_printf(emu_text *text, const char *format, ...);
void emu_text_free(emu_text *text);

#endif
