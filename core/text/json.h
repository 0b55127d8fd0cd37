/* json.h - the few pieces of JSON that a trace is made of, written to a file, and those
 * that a short report needs, added to a text.
 *
 * No snprintf in the files: a trace of a million operations has tens of millions of
 * numbers. Nothing follows the locale.
 */
#ifndef SL_TEXT_JSON_H
#define SL_TEXT_JSON_H

#include "outfile.h"

void sl__json_raw(sl__outfile *file, const char *text); /* as it is */
/* A value behind its key, which is written as it is, with the comma, quotes and colon that belong
 * there. */
void sl__json_uint(sl__outfile *file, const char *key, uint64_t value);
void sl__json_int(sl__outfile *file, const char *key, int64_t value);
void sl__json_bool(sl__outfile *file, const char *key, bool value);
/* Thousandths as a decimal with exactly three places: ns as us, "12.345". */
void sl__json_milli(sl__outfile *file, const char *key, int64_t thousandths);
/* Quoted and escaped; bytes that are no UTF-8 become U+FFFD. */
void sl__json_string(sl__outfile *file, const char *key, const char *text);
/* The same for a <script> of a page: without any "<", which could end it. */
void sl__json_script_string(sl__outfile *file, const char *key, const char *text);

#endif
