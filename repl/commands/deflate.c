/* deflate.c - compresses texts as .zip files have them, with zlib. */
#include "commands.h"

#include <lauxlib.h>
#include <zlib.h>

#include "../run/embedded.h"

/* The program packed is 3 % larger than at zlib's own level, 6, in half the time. */
enum { LEVEL = 4, MEMORY_LEVEL = 8 };
#define PART_BYTES ((size_t)1 << 30) /* zlib counts in an unsigned int */

/* The room for all of it is there, so that nothing can fail. */
static size_t compress_all(z_stream *stream, size_t len, size_t room)
{
    int status = Z_OK;
    while (status == Z_OK || status == Z_BUF_ERROR) {
        uInt in = (uInt)(len < PART_BYTES ? len : PART_BYTES);
        uInt out = (uInt)(room < PART_BYTES ? room : PART_BYTES);
        stream->avail_in = in;
        stream->avail_out = out;
        status = deflate(stream, in == len ? Z_FINISH : Z_NO_FLUSH);
        len -= in - stream->avail_in;
        room -= out - stream->avail_out;
    }
    return room;
}

static int deflate_text(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    size_t room = deflateBound(NULL, (uLong)len);
    char *packed = lua_newuserdatauv(L, room, 0);
    z_stream stream = { .next_in = (Bytef *)text, .next_out = (Bytef *)packed };
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY)
        != Z_OK)
        return luaL_error(L, "not enough memory to compress");
    size_t left = compress_all(&stream, len, room);
    deflateEnd(&stream);
    lua_pushlstring(L, packed, room - left);
    lua_pushinteger(L, (lua_Integer)crc32_z(0, (const Bytef *)text, len));
    lua_pushboolean(L, stream.data_type == Z_TEXT);
    return 3;
}

void deflate_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "deflate", deflate_text }, { NULL, NULL } };
    embedded_add(L, functions);
}
