/* text.c - text that grows. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void emu_text_add(emu_text *text, const char *data, size_t n)
{
    if (text->failed) return;
    if (text->n + n + 1 > text->room) {
        size_t room = text->room ? text->room : 1024;
        while (room < text->n + n + 1)
            room *= 2;
        char *grown = realloc(text->data, room);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->data = grown;
        text->room = room;
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
