/* draft.h - the text that is edited, where the cursor is, what was cut, and earlier states. */
#ifndef REPL_DRAFT_H
#define REPL_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

enum { DRAFT_STATES = 100 }; /* that can be brought back */

typedef struct draft_state {
    wchar_t *chars;
    size_t n, at;
} draft_state;

typedef struct draft {
    wchar_t *chars; /* n of them, and a NUL */
    size_t n, at, room;
    wchar_t *cut; /* what Ctrl-Y puts back; may be NULL */
    draft_state states[DRAFT_STATES];
    size_t n_states;
    bool typing; /* the latest change was a character that was typed */
} draft;

/* An empty text without earlier states; what was cut stays. False: there is no memory, which can
 * only be at the first time. */
bool draft_begin(draft *d);
void draft_free(draft *d);

/* Changes, of which false says that there is no memory, and nothing has changed. */
bool draft_insert(draft *d, const wchar_t *text, size_t n);
bool draft_type(draft *d, wchar_t c); /* of a word only the whole is taken back */
bool draft_set(draft *d, const wchar_t *text);
bool draft_remove(draft *d, size_t from, size_t to);
/* Removes, and keeps it for draft_paste. */
bool draft_cut(draft *d, size_t from, size_t to);
bool draft_paste(draft *d);
/* The text before the latest change; false: there is none. */
bool draft_undo(draft *d);
void draft_forget_states(draft *d);

/* Places from the cursor on. */
size_t draft_line_start(const draft *d);
size_t draft_line_end(const draft *d);
size_t draft_word_left(const draft *d);
size_t draft_word_right(const draft *d);
/* The same column of the line above or below; false: there is none. */
bool draft_up(draft *d);
bool draft_down(draft *d);

#endif
