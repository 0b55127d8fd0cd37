/* compiled_none.c - no compiled files: each is compiled when it is loaded. */
#include "embedded_files.h"

const lsl_embedded lsl_compiled_files[] = { { NULL, NULL, 0 } };
