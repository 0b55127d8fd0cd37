/* plugin.h - backends that are loaded at run time. */
#ifndef SL_PLUGIN_H
#define SL_PLUGIN_H

#include "backend.h"

/* The backend of the plugin streamlab_<name>.so. It is looked for once: in the file that
 * $STREAMLAB_CUDA_PLUGIN names, if it is set ("" and "none": no plugin), else beside the
 * running program or module, and in ../lib/streamlab from there. A plugin stays loaded,
 * and a refusal stays one: the same sentence every time. SL_ENOTFOUND: there is none;
 * SL_EUNSUPPORTED: it is there and of no use. */
sl_status sl__plugin_backend(const char *name, const sl_backend **backend, sl_error *err);

#endif
