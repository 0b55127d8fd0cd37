/* source_scan.h - the tokens of a kernel's source, one after the other. */
#ifndef SL_SOURCE_SCAN_H
#define SL_SOURCE_SCAN_H

#include "../backend.h"

enum { SL__SOURCE_NAME_BYTES = 120 };

typedef enum sl__source_kind {
    SL__SOURCE_END,
    SL__SOURCE_NEWLINE,
    SL__SOURCE_NAME,
    SL__SOURCE_NUMBER,
    SL__SOURCE_TEXT,
    SL__SOURCE_SIGN
} sl__source_kind;

/* It begins as { .at = the source, .line = 1 }; a copy of it goes on from the same place. */
typedef struct sl__source {
    const char *at;
    int line;
    sl__source_kind kind;                 /* of the latest token */
    char name[SL__SOURCE_NAME_BYTES + 1]; /* NAME; also the content of a TEXT that fits */
    char sign;                            /* SIGN */
    sl_error *err;
} sl__source;

/* The next token. SL_ECOMPILE: compilers differ in what it is. */
sl_status sl__source_next(sl__source *s);

/* The character at hand, and the next one, after line ends that a backslash takes away. */
char sl__source_here(sl__source *s);
char sl__source_step(sl__source *s);
bool sl__source_begins_name(char c);
bool sl__source_goes_on(char c);
bool sl__source_is_blank(char c);

/* SL_ECOMPILE with a sentence. */
sl_status sl__source_refuse(sl__source *s, const char *what, const char *why);

#endif
