/* history.h - the entries of earlier sessions, in a file.
 *
 * STREAMLAB_HISTORY names it (empty: there is none); else it is streamlab/history in
 * $XDG_STATE_HOME or ~/.local/state. One entry is one line, with "\n" for its newlines and
 * "\\" for a backslash. Several sessions may use it at once: each entry is appended when it
 * is made. A file that cannot be used costs the user one sentence and nothing else.
 */
#ifndef REPL_HISTORY_H
#define REPL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct history_file {
    char *path;       /* NULL: there is no file */
    char *last;       /* the latest entry, which is not written twice in a row */
    char notice[256]; /* a sentence for the user, "" for none */
} history_file;

/* Reads the file, and cuts it to the latest 10,000 entries. Each is given to `each`, oldest
 * first. */
void history_open(history_file *h, void (*each)(void *context, const char *entry), void *context);

/* Appends an entry. False: h->notice says what is wrong, once. */
bool history_append(history_file *h, const char *entry);

void history_close(history_file *h);

#endif
