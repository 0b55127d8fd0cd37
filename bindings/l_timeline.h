/* l_timeline.h - a timeline's box, shared by l_timeline.c (recording, reading), l_selection.c
 * (figures of parts of it), l_figures.c, l_memory.c, l_range.c, l_records.c, l_page.c and l_show.c
 * (pictures, tables, files). */
#ifndef LSL_TIMELINE_H
#define LSL_TIMELINE_H

#include "l_box.h"

typedef struct lsl_timeline {
    lsl_tag tag; /* these two as in lsl_box */
    sl_timeline *p;
    sl_device *device;     /* retained while recording, else NULL */
    int64_t host_start_ns; /* zero of the times that scripts see */
    uint32_t n_threads;    /* of the host, while its spans or calls are listed */
    bool has_sources;      /* the script's lines have been looked up */
    bool has_graphs; /* what its work would take as graphs has been asked, and with which costs */
    sl_graph_costs graph_costs;
    sl_as_graphs as_graphs;
} lsl_timeline;

/* The timeline at argument 1; raises while it is recording, and if it keeps only a summary. */
lsl_timeline *lsl_check_timeline(lua_State *L, const char *op);
/* For what a summary has, too. */
lsl_timeline *lsl_check_sums(lua_State *L, const char *op);
/* Argument 2, another one, which must have single operations, too (l_breakdown.c). */
lsl_timeline *lsl_check_other(lua_State *L, const char *op);
/* The complete timeline with all its spans at stack index `idx`, or NULL. */
lsl_timeline *lsl_to_timeline(lua_State *L, int idx);

/* Pushes what that file of bindings/ returned (l_page.c). */
void lsl_push_needed(lua_State *L, const char *file);
/* Saves the timeline, which is at argument 1, as an .html file (l_page.c). */
sl_status lsl_save_page(lua_State *L, const sl_timeline *timeline, const char *path, sl_error *err);

/* Gives the timeline the lines of the script that it has positions of (l_source.c). */
void lsl_timeline_add_sources(lua_State *L, lsl_timeline *box, const char *op);

/* Pushes why the timeline at `arg` lost time, as bindings/words/ wants it (l_records.c); the table
 * keeps what is returned. `inferred`: from its records alone. */
const sl_explanation *lsl_push_explanation(lua_State *L, int arg, bool inferred, const char *op);
/* The same of one stream's last operation (sl_timeline_chain_of_stream): the parts, and `stream` =
 * {name =, time_ns = from the first start to its end}. The stream, its name or its id is at index
 * `stream`. */
void lsl_push_stream_chain(lua_State *L, int arg, int stream, bool inferred, const char *op);
/* The id of the stream at index `idx`: an object, its name or its id (l_selection.c). */
uint32_t lsl_select_stream(lua_State *L, int idx, const sl_timeline *timeline, const char *op);
/* Pushes core.words.NAME. */
void lsl_push_words(lua_State *L, const char *name);
/* Push the figures of a timeline (SL_FIGURES_...), and those of two with what moved, as tables for
 * bindings/words/ (l_figures.c). */
void lsl_push_figures(lua_State *L, const sl_timeline *timeline, unsigned parts, const char *op);
void lsl_push_moves(lua_State *L, const sl_timeline *a, const sl_timeline *b, const char *op);

/* Pushes the function `form` of bindings/words/breakdown.lua and its first two arguments, the key
 * and the timeline's operations by it (l_breakdown.c). Raises for a key that is none. */
void lsl_push_breakdown(lua_State *L, const sl_timeline *timeline, const char *key,
                        const char *form, const char *op);

/* Pushes what the function `form` of bindings/words/changes.lua gives of two timelines by the key,
 * and of the columns, if they are not 0. Raises for a key by which none are compared. */
void lsl_push_changes(lua_State *L, const sl_timeline *a, const sl_timeline *b, const char *key,
                      const char *form, int64_t columns, const char *op);

/* Pushes the function `form` of bindings/words/idle.lua and its first argument, why each GPU was
 * idle (l_idle.c). */
void lsl_push_idle(lua_State *L, const sl_timeline *timeline, const char *form, const char *op);

/* Which part of a timeline: points of the time from from_ns to to_ns, at most about so many (0:
 * all); their times count from base_ns. */
typedef struct lsl_counter_part {
    int64_t from_ns, to_ns, base_ns;
    size_t points;
} lsl_counter_part;
/* Pushes a list of the counters that have points, as tl:counters() gives them (l_counters.c). */
void lsl_push_counters(lua_State *L, const sl_timeline *timeline, const lsl_counter_part *part,
                       const char *op);

/* Pushes a list of the costs, as trace.as_graphs takes it (l_as_graphs.c). */
void lsl_push_graph_costs(lua_State *L, const sl_graph_costs *costs);
/* Sets as_graphs of the table on top of the stack, for the timeline at that index. */
void lsl_set_as_graphs(lua_State *L, int timeline);

/* Sets the field "range" of the table on top of the stack, if other runs are known (l_range.c). */
void lsl_set_range(lua_State *L, const sl_timeline *timeline);
/* Sets the field "communication" of the table on top of the stack, if there are collectives: of
 * each device that has some {prefix = "gpu1: " or "", count =, busy_ns =, covered_ns =}. */
void lsl_set_communication(lua_State *L, const sl_timeline *timeline, const char *op);
/* What a program allocated and freed (l_memory.c). Sets the fields of such a call of the table on
 * top of the stack. */
void lsl_set_memory_of_call(lua_State *L, const sl_timeline *timeline, uint64_t correlation);
/* Pushes a list by kind of memory, of those that calls are about, and returns its length. */
lua_Integer lsl_push_memory(lua_State *L, const sl_timeline *timeline, const char *op);
/* Sets it as the field "memory" of the table on top of the stack, if it is not empty. */
void lsl_set_memory(lua_State *L, const sl_timeline *timeline, const char *op);
/* Sets the field "sampled" of the table on top of the stack to a list: of each GPU the most that
 * PyTorch had allocated and reserved, as samples say. */
void lsl_set_sampled_memory(lua_State *L, const sl_timeline *timeline, const char *op);
/* Sets the field "guessed" of the table on top of the stack, if durations are guesses
 * (l_figures.c). */
void lsl_set_guessed(lua_State *L, const sl_timeline *timeline, const char *op);
/* Sets the field "doubts" of the table on top of the stack, if there are some: a list of {kind =,
 * count =, ns =, 0 for no time, sentence =} (l_figures.c). */
void lsl_set_doubts(lua_State *L, const sl_timeline *timeline);

/* core.count_spans(tl, sel): how many are selected (l_selection.c). */
int lsl_timeline_count(lua_State *L);
int lsl_timeline_selected(lua_State *L);

/* Pushes what a script has to do (l_actions.c); raises. */
void lsl_push_actions(lua_State *L, sl_whatif *whatif, const sl_timeline *timeline);

#endif
