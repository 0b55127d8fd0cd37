/* reader.c - where the console's lines come from.
 */
#include "reader.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../run/growing.h"
#include "../run/run.h"
#include "../run/signals.h"

/* ---- plain reading ------------------------------------------------------------ */

/* From a pipe or a file: through stdin's buffer, so that a script's io.read takes its turn. Without
 * memory the rest of a line is lost. */
static reader_result read_stream(reader *r, size_t *len)
{
    int byte;
    while ((byte = getchar()) != EOF && byte != '\n') {
        if (GROW(r->plain, r->room, *len + 1)) r->plain[(*len)++] = (char)byte;
    }
    return byte == EOF && *len == 0 ? READER_END : READER_LINE;
}

/* From a terminal, which gives no more than a line at a time. */
static reader_result read_terminal(reader *r, size_t *len)
{
    for (;;) {
        int number = signals_wait(STDIN_FILENO);
        if (number == SIGINT) return READER_DROPPED;
        if (number) {
            signals_obey(number);
            continue;
        }
        if (!GROW(r->plain, r->room, *len + 4096)) return READER_END;
        ssize_t n = read(STDIN_FILENO, r->plain + *len, 4096);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return *len > 0 ? READER_LINE : READER_END;
        *len += (size_t)n;
        if (r->plain[*len - 1] == '\n') {
            --*len;
            return READER_LINE;
        }
    }
}

static reader_result read_plain(reader *r, const char *prompt, const char **line, size_t *len)
{
    reader_result result;
    *len = 0;
    if (!GROW(r->plain, r->room, 1)) return READER_END;
    if (r->terminal) {
        signals_hold();
        fputs(prompt, r->prompts);
        fflush(r->prompts);
        result = read_terminal(r, len);
        signals_release();
        if (result == READER_DROPPED) fputc('\n', r->prompts); /* behind the terminal's own ^C */
    } else {
        result = read_stream(r, len);
    }
    *line = r->plain;
    return result;
}

/* ---- using it ------------------------------------------------------------------- */

static void recall(void *context, const char *entry) { lineedit_remember(context, entry); }

static void say_notice(history_file *h)
{
    if (h->notice[0]) run_message(h->notice);
    h->notice[0] = '\0';
}

void reader_open(reader *r, const lineedit_language *language, void *context)
{
    bool shown = isatty(STDOUT_FILENO);
    *r = (reader){ .terminal = isatty(STDIN_FILENO), .prompts = shown ? stdout : stderr };
    if (!r->terminal) return;
    signals_ignore_interrupts(&r->interrupt_before);
    if (!shown) return;
    r->editor = lineedit_open(language, context);
    if (r->editor) {
        history_open(&r->history, recall, r->editor);
        say_notice(&r->history);
    }
}

reader_result reader_read(reader *r, const char *prompt, const char *before, const char **line,
                          size_t *len)
{
    if (!r->editor) return read_plain(r, prompt, line, len);
    switch (lineedit_read(r->editor, prompt, before, line, len)) {
    case LINEEDIT_LINE: return READER_LINE;
    case LINEEDIT_INTERRUPTED: return READER_DROPPED;
    default: return READER_END;
    }
}

void reader_remember(reader *r, const char *entry)
{
    if (!r->editor) return;
    lineedit_remember(r->editor, entry);
    history_append(&r->history, entry);
    say_notice(&r->history);
}

void reader_close(reader *r)
{
    if (r->editor) {
        lineedit_close(r->editor);
        history_close(&r->history);
    } else if (r->terminal) {
        fputc('\n', r->prompts);
    }
    if (r->terminal) sigaction(SIGINT, &r->interrupt_before, NULL);
    free(r->plain);
    *r = (reader){ 0 };
}
