/* exercise.h - what is tried on a trace of any bytes: reading it, everything that reads a
 * timeline, and saving and reading it again. Used by the fuzzer and by the test that
 * replays its corpus.
 */
#ifndef TESTS_FUZZ_EXERCISE_H
#define TESTS_FUZZ_EXERCISE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../core/streamlab.h"
#include "../../core/traces/kineto_read.h"

/* A promise that was broken ends the program, for the fuzzer to see. */
static void exercise_must(bool kept, const char *promise, const char *why)
{
    if (!kept) {
        fprintf(stderr, "broken: %s (%s)\n", promise, why);
        abort();
    }
}

static void exercise_side(const sl_side *side)
{
    exercise_must(side->name && side->stream_name && side->where && side->source,
                  "a side has its texts", "");
    exercise_must(!side->is_span || !side->is_call, "a side is an operation or a call", "");
}

static void exercise_records(const sl_timeline *tl, const sl_finding *findings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sl_cause_record record;
        sl_cause_read(tl, &findings[i], &record);
        exercise_side(&record.waiter);
        exercise_side(&record.by);
        exercise_must(record.finding.lost_ns > 0, "a finding has lost time", "");
    }
}

static void exercise_causes(const sl_timeline *tl)
{
    const sl_explanation *found;
    sl_explanation inferred;
    sl_error err = { 0 };
    exercise_must(sl_timeline_causes(tl, &found, &err) == SL_OK, "causes", err.msg);
    exercise_records(tl, found->findings, found->n_findings);
    exercise_records(tl, found->chain, found->n_chain);
    for (size_t i = 0; i < found->n_findings; i++)
        exercise_must(found->findings[i].same_as <= i, "the first with a cause stands for it", "");
    sl_verdict verdict = sl_explanation_judge(tl, found);
    exercise_must(verdict.also == 0 || verdict.also < found->n_findings,
                  "what else is named is there", "");
    exercise_must(sl_timeline_infer_causes(tl, &inferred, &err) == SL_OK, "inferring", err.msg);
    sl_explanation_free(&inferred);
}

/* Figures, and what moved from the timeline to itself: nothing. */
static void exercise_figures(const sl_timeline *tl)
{
    sl_figures figures;
    sl_move *moves;
    size_t n;
    sl_error err = { 0 };
    exercise_must(sl_timeline_figures(tl, SL_FIGURES_STREAMS | SL_FIGURES_CAUSES, &figures, &err)
                      == SL_OK,
                  "figures", err.msg);
    exercise_must(sl_timeline_moves(&figures, &figures, &moves, &n, &err) == SL_OK, "moves",
                  err.msg);
    exercise_must(n == 0, "nothing moves from a timeline to itself", "");
    free(moves);
    sl_figures_free(&figures);
}

/* What charts and pictures are drawn from. */
static void exercise_layouts(const sl_timeline *tl)
{
    sl_grid grid;
    sl_picture picture;
    sl_arrows arrows;
    sl_error err = { 0 };
    enum { CELLS = 50 };
    const int64_t from_ns = sl_timeline_first_ns(tl);
    const int64_t to_ns = from_ns + CELLS + sl_timeline_makespan_ns(tl);
    const sl_scale scale = { from_ns, to_ns, 400 * SL_PX };
    exercise_must(sl_grid_open(tl, SL_ROWS_STREAMS, &grid, &err) == SL_OK
                      && sl_grid_fill(&grid, from_ns, to_ns, CELLS, 32, &err) == SL_OK,
                  "cells", err.msg);
    for (size_t i = 0; i < grid.n_rows * CELLS; i++)
        exercise_must(sl_cell_part(&grid, i / CELLS, (int)(i % CELLS), 8) <= 8, "a full cell", "");
    sl_grid_close(&grid);
    exercise_must(sl_picture_open(tl, SL_ROWS_ENGINES, &picture, &err) == SL_OK
                      && sl_picture_fill(&picture, &scale, 100, 3000, &err) == SL_OK,
                  "bars", err.msg);
    for (int kind = SL_ARROW_EVENT; kind <= SL_ARROW_HOST; kind++) {
        exercise_must(sl_arrows_find(tl, (sl_arrow_kind)kind, from_ns, to_ns, 24, &arrows, &err)
                          == SL_OK,
                      "arrows", err.msg);
        sl_arrows_free(&arrows);
    }
    sl_picture_close(&picture);
}

/* Everything that is made of a timeline. `path` is left as it was saved last. */
static void exercise_outputs(const sl_timeline *tl, const char *path)
{
    sl_bounds bounds;
    sl_error err = { 0 };
    exercise_must(sl_timeline_bounds(tl, &bounds, &err) == SL_OK, "bounds", err.msg);
    exercise_must(bounds.lower_ns >= bounds.unblocked_ns, "waits never shorten", "");
    exercise_figures(tl);
    exercise_causes(tl);
    exercise_layouts(tl);
    exercise_must(sl_timeline_save_html(tl, path, NULL, &err) == SL_OK, "html", err.msg);
}

static char *exercise_contents(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    exercise_must(file && fseek(file, 0, SEEK_END) == 0, "a file that was saved is there", path);
    *n = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*n + 1);
    exercise_must(data && fread(data, 1, *n, file) == *n, "reading it", path);
    fclose(file);
    return data;
}

/* What was loaded can be saved and loaded again, with nothing lost. */
static void exercise_round_trip(const sl_timeline *tl, const char *path)
{
    sl_timeline *again = NULL;
    sl_error err = { 0 };
    size_t n, m;
    exercise_must(sl_timeline_save_kineto(tl, path, &err) == SL_OK, "saving", err.msg);
    char *first = exercise_contents(path, &n);
    exercise_must(sl_timeline_load_kineto(path, SL_BUSIEST_DEVICE, &again, &err) == SL_OK,
                  "loading", err.msg);
    exercise_must(sl_timeline_save_kineto(again, path, &err) == SL_OK, "saving again", err.msg);
    char *second = exercise_contents(path, &m);
    exercise_must(n == m && memcmp(first, second, n) == 0, "the same bytes again", "they differ");
    free(first);
    free(second);
    sl_timeline_release(again);
}

typedef struct exercise_rest {
    const char *at;
    size_t n;
} exercise_rest;

static inline sl_status exercise_read(void *ud, char *to, size_t room, size_t *n, sl_error *err)
{
    exercise_rest *left = ud;
    (void)err;
    *n = left->n < room ? left->n : room;
    if (*n > 0) memcpy(to, left->at, *n);
    left->at += *n;
    left->n -= *n;
    return SL_OK;
}

/* What was read of the whole is read of it in parts: in small ones, and in two that nearly halve it. */
static inline void exercise_parts(const char *text, size_t n, sl_status wanted,
                                  const sl_timeline *whole, const char *why)
{
    const size_t sizes[] = { n % 61 + 1, n / 2 + n % 7 + 1 };
    for (size_t i = 0; i < 2; i++) {
        exercise_rest left = { text, n };
        sl__parts parts = { .read = exercise_read, .ud = &left, .part = sizes[i] };
        sl_timeline *tl = NULL;
        sl_error err = { 0 };
        sl_status status = sl__kineto_parse_parts(parts, SL_BUSIEST_DEVICE, &tl, &err);
        exercise_must(status == wanted && (status == SL_OK || strcmp(err.msg, why) == 0),
                      "the same outcome in parts", err.msg);
        exercise_must(!tl
                          || (sl_timeline_span_count(tl) == sl_timeline_span_count(whole)
                              && sl_timeline_call_count(tl) == sl_timeline_call_count(whole)
                              && strcmp(sl_timeline_notice(tl), sl_timeline_notice(whole)) == 0),
                      "as much in parts", "");
        sl_timeline_release(tl);
    }
}

/* Whether the bytes are a trace. A refusal has a sentence. */
static inline bool exercise(const char *text, size_t n, const char *path)
{
    sl_timeline *tl = NULL;
    sl_error err = { 0 };
    sl_status status = sl__kineto_parse(text, n, SL_BUSIEST_DEVICE, &tl, &err);
    exercise_must(status == SL_OK || status == SL_EINVAL, "a trace or not", err.msg);
    exercise_parts(text, n, status, tl, err.msg);
    if (status != SL_OK) {
        exercise_must(err.msg[0] != '\0', "a sentence", "none");
        return false;
    }
    exercise_outputs(tl, path);
    exercise_round_trip(tl, path);
    sl_timeline_release(tl);
    return true;
}

#endif
