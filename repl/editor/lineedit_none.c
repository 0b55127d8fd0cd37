/* lineedit_none.c - takes the place of lineedit.c in a build without libedit.
 */
#include "lineedit.h"

lineedit *lineedit_open(completion_find *complete, void *context, char **notice)
{
    (void)complete;
    (void)context;
    *notice = NULL;
    return NULL;
}

lineedit_result lineedit_read(lineedit *e, const char *prompt, const char *before,
                              const char **line, size_t *len)
{
    (void)e;
    (void)prompt;
    (void)before;
    (void)line;
    (void)len;
    return LINEEDIT_END;
}

void lineedit_remember(lineedit *e, const char *entry)
{
    (void)e;
    (void)entry;
}

void lineedit_close(lineedit *e) { (void)e; }
