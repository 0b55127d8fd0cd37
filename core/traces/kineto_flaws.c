/* kineto_flaws.c - what is wrong with a trace, event by event.
 *
 * A trace of a million events is not refused for one of them. What the timeline can do without
 * counts as missing; an event without the rest is left out; where the text is no JSON, reading
 * ends.
 *
 *   what is wrong                                 what is done
 *   a number or a list of numbers in quotes       it is what is in the quotes
 *   another value of args, or no name             that member is left out (an operation's stream is
 *                                                 then its row's number, its device the process')
 *   no time, or none that can be, dur below 0,    the event is left out
 *   no stream, no object, text between members
 *   a key twice                                   the last counts, as other readers have it
 *   a member of the file                          is left out from there on
 *   the text ends, or is no JSON from somewhere   what comes before is read
 *   on, or the compressed data is damaged
 *
 * All of it is reported, a kind a sentence (trace_doubts.c). A trace without any operation is
 * refused, with the first reason. In files of ours each value is needed: an event with a wrong one
 * is left out.
 */
#include "kineto_read.h"

#include <stdio.h>

void sl__flaw_note(sl__records *records, sl_doubt_kind kind, const char *sentence)
{
    sl__doubted *doubted = &records->doubted[kind];
    if (doubted->n++ == 0) sl_text_add(&doubted->what, "%s", sentence);
}

static void note_of_event(sl__reader *r, sl_doubt_kind kind, const char *text)
{
    char sentence[SL__EVENT_SENTENCE];
    sl__event_describe(&r->event, text, sentence);
    sl__flaw_note(&r->records, kind, sentence);
}

void sl__flaws_of_event(sl__reader *r)
{
    char text[SL__SENTENCE];
    if (r->event.bad[0]) note_of_event(r, SL_DOUBT_BAD_MEMBERS, r->event.bad);
    if (!r->event.twice[0]) return;
    snprintf(text, sizeof text, "it has %s twice", r->event.twice);
    note_of_event(r, SL_DOUBT_DOUBLE_KEYS, text);
}

sl__filled sl__records_filled(const sl__records *records)
{
    return (sl__filled){ records->n_holds, records->n_collectives, records->n_exchanges,
                         records->n_peers, records->n_launches,    records->n_memory };
}

void sl__event_skip(sl__reader *r, sl__filled before, const char *why)
{
    r->records.n_holds = before.n_holds;
    r->records.n_collectives = before.n_collectives;
    r->records.n_exchanges = before.n_exchanges;
    r->records.n_peers = before.n_peers;
    r->records.n_launches = before.n_launches;
    r->records.n_memory = before.n_memory;
    sl__flaw_note(&r->records, SL_DOUBT_BAD_EVENTS, why);
}
