/* json_scan.h - walking through JSON in memory, one value at a time.
 *
 * A trace of a million events is hundreds of megabytes, of which little is used: most members of
 * most events are skipped. So the walk gives each value as the bytes that it takes, and the caller
 * decodes those that it needs. The text need not be there whole: where a step of the walk comes to
 * the end of what is there, it is taken again with more of it (json_parts.h). What is skipped is
 * checked only for what the walk needs: quotes and brackets that match, not nested too deep. So
 * traces can be read that have mistakes of other writers in unused members (NaN, raw newlines in
 * texts, whole numbers beyond 64 bits).
 *
 * No library: those that build trees take several times the memory and time of the file,
 * read numbers as doubles, and jansson 2.14 crashes when an allocation fails.
 */
#ifndef SL_TRACES_JSON_SCAN_H
#define SL_TRACES_JSON_SCAN_H

#include "../text/text.h"

typedef enum sl__json_type {
    SL__JSON_MISSING,
    SL__JSON_OBJECT,
    SL__JSON_ARRAY,
    SL__JSON_TEXT,
    SL__JSON_NUMBER,
    SL__JSON_WORD /* true, false, null, and other words: NaN */
} sl__json_type;

/* The bytes of a value, quotes and brackets included. */
typedef struct sl__json_value {
    const char *text;
    size_t n;
    sl__json_type type;
} sl__json_value;

typedef struct sl__scan {
    const char *at, *end;
    const char *start; /* of what is there */
    uint64_t before;   /* bytes of the text that came before: positions in messages count them */
    bool hit_end;      /* a step came to the end, and might have gone on with more */
} sl__scan;

void sl__scan_open(sl__scan *scan, const char *text, size_t n);
/* Where a place lies in the text, from 1 on. */
uint64_t sl__scan_position(const sl__scan *scan, const char *place);

/* The next byte that is no blank, 0 at the end. */
char sl__scan_peek(sl__scan *scan);
/* Takes a bracket. SL_EINVAL if the next byte is another one. */
sl_status sl__scan_enter(sl__scan *scan, char bracket, sl_error *err);
/* Inside: is there a further element? Takes the comma before it (*first is false then),
 * or the bracket `close`. */
sl_status sl__scan_next(sl__scan *scan, char close, bool *first, bool *more, sl_error *err);
/* A member's key, with its quotes, and the colon. */
sl_status sl__scan_key(sl__scan *scan, sl__json_value *key, sl_error *err);
/* A whole value. SL_EINVAL: the text ends inside, brackets do not match, ... */
sl_status sl__scan_value(sl__scan *scan, sl__json_value *value, sl_error *err);

/* A text without escapes: is it this one? */
bool sl__json_is(const sl__json_value *value, const char *text);

/* What is in the quotes of a text that begins as a number or a list does; else the value itself. */
sl__json_value sl__json_unquoted(const sl__json_value *value);

bool sl__json_true(const sl__json_value *value);
/* A number, also one in quotes, times 10^shift, rounded to the nearest; all of its digits count, so
 * that times since 1970 keep their nanoseconds. False if it is none or too large. */
bool sl__json_scaled(const sl__json_value *value, int shift, int64_t *number);
/* A whole number ("8", also "8.0"). False if it is none, or beyond 64 bits. */
bool sl__json_whole(const sl__json_value *value, int64_t *number);

/* A text decoded. Appends to *out. What is no escape, or half a character (a lone
 * surrogate), is left as it stands; a NUL becomes U+FFFD. SL_ENOMEM. */
sl_status sl__json_decode(const sl__json_value *value, sl_text *out, sl_error *err);

/* Calls `visit` with each member of an object, or each element of an array (whose key is
 * missing), until one fails. The text begins at scan->at with that bracket. */
typedef sl_status (*sl__json_visit)(void *ud, const sl__json_value *key,
                                    const sl__json_value *value, sl_error *err);
sl_status sl__scan_each(sl__scan *scan, char bracket, sl__json_visit visit, void *ud,
                        sl_error *err);
/* The same for an object or array that was passed over; nothing for other values. */
sl_status sl__json_each(const sl__scan *whole, const sl__json_value *value, sl__json_visit visit,
                        void *ud, sl_error *err);

/* The value, short and printable, for a message: `"x\n...`. */
#define SL__JSON_SHOWN 44
const char *sl__json_show(const sl__json_value *value, char shown[SL__JSON_SHOWN]);

#endif
