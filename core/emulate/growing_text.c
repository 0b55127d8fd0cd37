/* growing_text.c - text that grows. */
#include "growing_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"

void emu_text_add(emu_text *text, const char *data, size_t n)
{
    if (text->failed || !SL__GROW(text->data, text->room, text->n + n + 1)) {
        text->failed = true;
        return;
    }
    if (n) memcpy(text->data + text->n, data, n);
    text->n += n;
    text->data[text->n] = '\0';
}

void emu_text_puts(emu_text *text, const char *string)
{
    emu_text_add(text, string, strlen(string));
}

void emu_text_printf(emu_text *text, const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    emu_text_puts(text, line);
}

void emu_text_free(emu_text *text)
{
    free(text->data);
    *text = (emu_text){ 0 };
}
