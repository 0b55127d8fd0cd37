define FOUND_FOR
CC='cc' CPPFLAGS='' CFLAGS='-O2 -g' LUA_INCLUDE='' LUA_LIBRARY='' LUA='' NVCC='' MINIZIP='1' LIBSECCOMP='1'
endef
MISSING      := 
SYSTEM       := Linux
PROCESSORS   := 2
LUA_INC      := /usr/include/lua5.4
LUA_LIB      := /lib/x86_64-linux-gnu/liblua5.4.a
LUA_PROG     := /usr/bin/lua5.4
HAS_ZLIB     := yes
PROGRAM_ZLIB := /usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/libz.a -Wl,--exclude-libs,libz.a
ZIP_WRITER   := minizip
PROGRAM_ZIP  := /usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/libminizip.a -Wl,--exclude-libs,libminizip.a
CALL_FILTER  := libseccomp
PROGRAM_FILTER := /usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/libseccomp.a -Wl,--exclude-libs,libseccomp.a
CUDA_HOME    := 
CUDA_LIB     := 
CUDA_LACKS   := 
NVCC_ARCHES  := 
