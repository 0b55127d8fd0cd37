/* observers.c - the list of observers. */
#include "observers.h"

sl__observer *sl__observers;

static sl__observer **find(const sl__observer *observer)
{
    sl__observer **at = &sl__observers;
    while (*at && *at != observer)
        at = &(*at)->next;
    return at;
}

void sl__observe(sl__observer *observer)
{
    sl__observer **at = find(observer);
    if (*at) return;
    observer->next = NULL;
    *at = observer;
}

void sl__unobserve(sl__observer *observer)
{
    sl__observer **at = find(observer);
    if (*at) *at = observer->next;
}

bool sl__observers_need_order(void)
{
    const sl__observer *observer = sl__observers;
    while (observer && !observer->needs_order)
        observer = observer->next;
    return observer != NULL;
}
