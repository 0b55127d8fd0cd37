-- The module for `require "streamlab"` under plain Lua 5.4; in a clone, `luarocks make`.
-- The program `streamlab` is not part of it: `make install` has that.
rockspec_format = "3.0"
package = "streamlab"
version = "scm-1"
-- `make release` writes that of a release: its version, and its archive as the source.
source = {
    url = "git+https://example.org/streamlab.git",
}
description = {
    summary = "A laboratory for GPU streams, on a real or a simulated GPU",
    detailed = [[
Streams, events, pinned and pageable tensors, copies and kernels as Lua objects, on NVIDIA GPUs and on a simulated
GPU in virtual time; timelines that say what overlapped and what stood in the way.]],
    license = "MIT",
    labels = { "gpu", "cuda", "profiling", "teaching" },
}
dependencies = { "lua ~> 5.4" }
supported_platforms = { "unix" }
external_dependencies = {
    ZLIB = { header = "zlib.h", library = "z" },
}
build = {
    type = "make",
    build_target = "rock",
    install_target = "install-rock",
    build_variables = {
        CC = "$(CC)",
        LUA_INCLUDE = "$(LUA_INCDIR)",
        CFLAGS = "$(CFLAGS) -I$(ZLIB_INCDIR)",
        LDFLAGS = "-L$(ZLIB_LIBDIR)",
    },
    install_variables = {
        LUA_CMOD = "$(LIBDIR)",
    },
}
