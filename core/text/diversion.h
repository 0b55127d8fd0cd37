/* diversion.h - what the runs of one script share; see divert.h. */
#ifndef SL_TEXT_DIVERSION_H
#define SL_TEXT_DIVERSION_H

#include "divert.h"
#include "scratch_files.h"

struct sl_diversion {
    bool diverted;
    struct written *written; /* divert.c */
    struct answer *answers;  /* answers.c, in the order in which they came */
    char path[SL__SCRATCH_PATH];
};

/* answers.c: see sl_divert_command; a run begins; */
int sl__answers_get(sl_diversion *d, const char *command, const char **output, int *status);
void sl__answers_begin(sl_diversion *d);
void sl__answers_free(sl_diversion *d);

#endif
