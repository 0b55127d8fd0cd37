/* terminal_keys.c - bytes from the terminal as keys.
 */
#include "terminal_keys.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "../run/signals.h"

/* The bytes of a key that is no character come at once; Escape comes alone. */
enum { ESCAPE_MS = 50 };

static bool readable(int ms)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    return poll(&input, 1, ms) > 0;
}

int keys_pending(void) { return readable(0); }

wint_t keys_read_character(int *signal)
{
    mbstate_t state = { 0 };
    for (;;) {
        *signal = signals_wait(STDIN_FILENO);
        if (*signal) return KEY_SIGNAL;
        char byte;
        wchar_t c;
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return KEY_EOF;
        size_t used = mbrtowc(&c, &byte, 1, &state);
        if (used == (size_t)-1) { /* what came before it was half a character */
            memset(&state, 0, sizeof state);
            used = mbrtowc(&c, &byte, 1, &state);
        }
        if (used == (size_t)-1)
            memset(&state, 0, sizeof state);
        else if (used != (size_t)-2)
            return (wint_t)c;
    }
}

/* ESC[ and numbers, `modified` by Ctrl or Alt, and the letter. */
static wint_t key_of_letter(wint_t letter, bool modified)
{
    switch (letter) {
    case L'A': return KEY_UP;
    case L'B': return KEY_DOWN;
    case L'C': return modified ? KEY_WORD_RIGHT : KEY_RIGHT;
    case L'D': return modified ? KEY_WORD_LEFT : KEY_LEFT;
    case L'H': return KEY_HOME;
    case L'F': return KEY_END;
    default: return KEY_UNKNOWN;
    }
}

static wint_t key_of_number(int number)
{
    switch (number) {
    case 1:
    case 7: return KEY_HOME;
    case 4:
    case 8: return KEY_END;
    case 3: return KEY_DELETE;
    case 200: return KEY_PASTE;
    default: return KEY_UNKNOWN;
    }
}

static wint_t read_sequence(int *signal)
{
    int numbers[2] = { 0 }, n = 0; /* later ones are ignored */
    for (;;) {
        wint_t c = keys_read_character(signal);
        if (c >= KEY_UP) return c;
        if (c >= L'0' && c <= L'9') {
            if (n < 2 && numbers[n] < 1000) numbers[n] = 10 * numbers[n] + (int)(c - L'0');
        } else if (c == L';') {
            n++;
        } else {
            return c == L'~' ? key_of_number(numbers[0]) : key_of_letter(c, n > 0);
        }
    }
}

static wint_t read_after_escape(int *signal)
{
    if (!readable(ESCAPE_MS)) return KEY_ESCAPE;
    wint_t c = keys_read_character(signal);
    switch (c) {
    case L'[': return read_sequence(signal);
    case L'O': return key_of_letter(keys_read_character(signal), false);
    case L'b': return KEY_WORD_LEFT;
    case L'f': return KEY_WORD_RIGHT;
    case L'd': return KEY_CUT_WORD_RIGHT;
    case KEY_CTRL_H:
    case KEY_RUBOUT: return KEY_CTRL_W;
    default: return c >= KEY_UP ? c : KEY_UNKNOWN;
    }
}

wint_t keys_read(int *signal)
{
    wint_t c = keys_read_character(signal);
    return c == KEY_ESCAPE ? read_after_escape(signal) : c;
}
