# streamlab: build, tests and benchmarks. `make help` lists the targets.
# Everything that is made lies in build/. V=1 shows the commands.

# Where make install puts things. DESTDIR stands in front of all of them.
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
LIBDIR   ?= $(PREFIX)/lib
DATADIR  ?= $(PREFIX)/share
MANDIR   ?= $(DATADIR)/man
LUA_CMOD ?= $(LIBDIR)/lua/5.4

# None of make's own rules: nothing here needs them.
MAKEFLAGS += --no-builtin-rules

# ---- settings -------------------------------------------------------------

VERSION  := 0.1.0

CC       ?= cc
CFLAGS   ?= -O2 -g
LDFLAGS  ?=
BUILD    ?= build
# Given to scripts/setup.sh, which finds them when they are empty: the folder of
# Lua 5.4's lua.h, the static library, the interpreter.
LUA_INCLUDE ?=
LUA_LIBRARY ?=
LUA         ?=
# For the compiler's -fsanitize=; set by check-asan.
SANITIZE ?=
# CUDA's compiler; the CUDA backend is built where there is one. NVCC= builds without.
NVCC     ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
# LIBEDIT=0 builds without a line editor, as does the want of libedit's header.
LIBEDIT  ?= 1
# The same of MINIZIP, which `streamlab lab pack` writes its files with.
MINIZIP  ?= 1
# How many test files run at a time, and how many files are compiled where make has no -j.
TEST_JOBS ?= 2
JOBS      ?= $(or $(shell getconf _NPROCESSORS_ONLN 2>/dev/null),2)
# The releases of Debian that make check-bare makes.
BARE_SUITES ?= bookworm trixie
# Files from elsewhere for make check-hta, in place of traces of its own.
TRACES ?=
# For make fuzz: a clang with libFuzzer, and for how long it and fuzz-api run.
FUZZ_CC      ?= $(firstword $(shell for cc in clang clang-19 clang-18 clang-17 clang-16 clang-15 \
                clang-14; do command -v $$cc; done) clang)
FUZZ_SECONDS ?= 600
# For make bench-cuda: -o FILE, --only SECTIONS.
BENCH_ARGS ?=

# ---- flags ----------------------------------------------------------------

FIND_LUA := $(shell LUA_INCLUDE='$(LUA_INCLUDE)' LUA_LIBRARY='$(LUA_LIBRARY)' LUA='$(LUA)' \
              sh scripts/setup.sh --find-lua)
LUA_INC  := $(filter-out -,$(word 1,$(FIND_LUA)))
LUA_LIB  := $(filter-out -,$(word 2,$(FIND_LUA)))
LUA_PROG := $(filter-out -,$(word 3,$(FIND_LUA)))

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ALL_CFLAGS = -std=c11 $(CFLAGS) $(WARNINGS) -ffp-contract=off -fPIC \
             -fno-semantic-interposition -MMD -MP $(SANITIZE_FLAGS)
CPPFLAGS += -D_POSIX_C_SOURCE=200809L -DSTREAMLAB_VERSION='"$(VERSION)"'
LIBS     := -lm
ifneq ($(SANITIZE),)
SANITIZE_FLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ifeq ($(shell uname),Darwin)
EXPORT_FLAGS := -Wl,-export_dynamic
MODULE_FLAGS := -bundle -undefined dynamic_lookup -Wl,-exported_symbol,_luaopen_streamlab
else
EXPORT_FLAGS := -Wl,-E
MODULE_FLAGS := -shared -Wl,--version-script=$(BUILD)/module.map
LIBS         += -ldl
HIDE_ZLIB    := -Wl,--exclude-libs,libz.a
HIDE_ZIP     := -Wl,--exclude-libs,libminizip.a
endif

# For compressed traces. The program takes the static library where there is one, so that it
# can be copied to a machine without, and keeps its names to itself: another library that it
# loads may bring its own.
ZLIB         := -lz
ZLIB_ARCHIVE := $(filter /%,$(shell $(CC) -print-file-name=libz.a))
PROGRAM_ZLIB := $(if $(ZLIB_ARCHIVE),$(ZLIB_ARCHIVE) $(HIDE_ZLIB),$(ZLIB))

HASH         := \#
has_header   = $(shell echo '$(HASH)include <$(1)>' | \
                 $(CC) $(CPPFLAGS) -fsyntax-only -xc - 2>/dev/null && echo yes)

# The line editor. libedit's static library needs others, and is taken where all are there:
# for the same reasons.
LINE_EDITOR  := $(if $(filter-out 0,$(LIBEDIT)),$(if $(call has_header,histedit.h),libedit))
EDIT_ARCHIVE := $(filter /%,$(foreach l,edit bsd md tinfo,\
                  $(shell $(CC) -print-file-name=lib$(l).a)))
HIDE_EDIT    := -Wl,--exclude-libs,libedit.a:libbsd.a:libmd.a:libtinfo.a
STATIC_EDIT  := $(if $(word 4,$(EDIT_ARCHIVE)),$(EDIT_ARCHIVE) $(HIDE_EDIT))
PROGRAM_EDIT := $(if $(LINE_EDITOR),$(or $(STATIC_EDIT),-ledit))

# minizip, for .zip files. Its static library needs zlib's, which comes behind it.
ZIP_WRITER   := $(if $(filter-out 0,$(MINIZIP)),$(if $(call has_header,minizip/zip.h),minizip))
ZIP_ARCHIVE  := $(filter /%,$(shell $(CC) -print-file-name=libminizip.a))
PROGRAM_ZIP  := $(if $(ZIP_WRITER),$(if $(ZIP_ARCHIVE),$(ZIP_ARCHIVE) $(HIDE_ZIP),-lminizip))

# The plugin: code for GPUs that this nvcc knows; PTX of the lowest architecture, which the
# driver can compile for all others from there on, and of a later one, which is faster on
# GPUs that come after. Code for 8.7 is Jetson's: it runs no code for desktop GPUs. A sanitized
# program does without it: two run-time systems that both map the address space do not get along.
ifneq ($(NVCC),)
CUDA_HOME   := $(patsubst %/bin/nvcc,%,$(realpath $(shell command -v $(NVCC))))
CUDA_LIB    := $(firstword $(foreach d,$(CUDA_HOME)/lib64 $(CUDA_HOME)/lib \
                 $(CUDA_HOME)/targets/x86_64-linux/lib $(CUDA_HOME)/targets/sbsa-linux/lib,\
                 $(if $(wildcard $(d)/libcudart_static.a),$(d))))
CUDA_LACKS  := $(if $(shell command -v $(NVCC)),,$(NVCC)) \
               $(if $(CUDA_LIB),,libcudart_static.a) \
               $(foreach h,cublasLt.h nvtx3/nvToolsExt.h,\
                 $(if $(wildcard $(CUDA_HOME)/include/$(h)),,$(h))) \
               $(if $(shell command -v g++ c++ clang++),,g++)
ifneq ($(strip $(CUDA_LACKS)),)
$(warning no CUDA backend in this build: nvcc needs $(strip $(CUDA_LACKS)), which is not here \
  (NVCC= builds without it, NVCC=/path/bin/nvcc names another))
CUDA_LIB    :=
endif
endif
ifneq ($(CUDA_LIB),)
CUDA_ARCHES := $(filter $(patsubst sm_%,%,$(shell $(NVCC) --list-gpu-code)),\
                 70 75 80 86 87 89 90 100 120)
CUDA_PTX    := $(firstword $(CUDA_ARCHES)) 90
CUDA_CODE   := $(foreach a,$(CUDA_ARCHES),-gencode arch=compute_$(a),code=sm_$(a)) \
               $(foreach a,$(CUDA_PTX),-gencode arch=compute_$(a),code=compute_$(a))
CUDA_FLAGS  := -isystem $(CUDA_HOME)/include -isystem $(CUDA_HOME)/extras/CUPTI/include \
               -DSTREAMLAB_CUDA_LIB='"$(CUDA_LIB)"' \
               -DSTREAMLAB_CUDA_CODE='"$(CUDA_ARCHES:%=sm_%)"' \
               -DSTREAMLAB_CUDA_PTX='"compute_$(firstword $(CUDA_PTX))"'
# No C++ run-time: what nvcc writes for the host needs none then.
NVCC_FLAGS  := -Xcompiler -fPIC,-Wall,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics
CUBLAS_LIBS := -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lcublas -lcublasLt
CUDA_LIBS   := $(CUDA_LIB)/libcudart_static.a -lpthread -ldl -lrt -lm
endif
PLUGIN := $(if $(CUDA_LIB),$(if $(SANITIZE),,$(BUILD)/streamlab_cuda.so))

ifeq ($(V),)
Q := @
say = @printf '  %-6s %s\n' '$(1)' '$(2)'
endif

# ---- files ----------------------------------------------------------------

objects = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)))

CORE     := $(call objects,core/*.c core/race/*.c)
TIMELINE_ROOMS := core/text core/timeline core/traces core/pictures
TIMELINE := $(call objects,$(TIMELINE_ROOMS:%=%/*.c)) $(BUILD)/report_page.o
SIM      := $(call objects,core/sim/*.c)
BINDINGS := $(call objects,bindings/*.c) $(BUILD)/embedded.o
# One of the two line editors is linked.
NO_EDITOR := $(BUILD)/repl/editor/lineedit_none.o
EDITORS  := $(call objects,repl/editor/lineedit*.c)
# The same of the two that write .zip files.
NO_ZIP   := $(BUILD)/repl/commands/zip_none.o
ZIPS     := $(call objects,repl/commands/zip*.c)
REPL     := $(filter-out $(EDITORS) $(ZIPS),$(call objects,repl/*.c repl/*/*.c)) \
            $(BUILD)/program_files.o
EDIT     := $(if $(LINE_EDITOR),$(filter-out $(NO_EDITOR),$(EDITORS)),$(NO_EDITOR))
ZIP      := $(if $(ZIP_WRITER),$(filter-out $(NO_ZIP),$(ZIPS)),$(NO_ZIP))
NUMBERS  := $(call objects,core/numbers/*.c)
LIBRARY  := $(CORE) $(TIMELINE) $(NUMBERS) $(SIM)
CUDA_C   := $(call objects,core/cuda/*.c)
# What the plugin has of the core.
PLUGIN_CORE := $(BUILD)/core/error.o $(BUILD)/core/host_limits.o
CUDA     := $(CUDA_C) $(patsubst %.cu,$(BUILD)/%.cu.o,$(wildcard core/cuda/*.cu))

EMBEDDED := $(sort $(wildcard bindings/*.lua bindings/words/*.lua scripts/profiles/*.lua)) \
            docs/api/elsewhere.lua
# What the .html report is made of.
PAGE     := $(sort $(wildcard core/pictures/report/*))
# The program's own Lua: subcommands, the console, course labs, and what help says. And what
# `lab new` and `lab pack` write as it is.
CONSOLE_ROOMS   := completion dot_commands help values
TEMPLATE        := repl/labs/template
TEXT_FOLDERS    := repl/labs/autograder $(TEMPLATE) $(TEMPLATE)/tests $(TEMPLATE)/right \
                   $(TEMPLATE)/wrong
PROGRAM_FOLDERS := docs/api repl/run repl/run/errors repl/commands repl/calibrate \
                   repl/calibrate/parts repl/calibrate/probe repl/compare repl/console \
                   $(CONSOLE_ROOMS:%=repl/console/%) repl/labs repl/labs/results $(TEXT_FOLDERS)
PROGRAM_FILES   := $(sort $(wildcard $(PROGRAM_FOLDERS:%=%/*.lua) $(TEXT_FOLDERS:%=%/*.sh) \
                     $(TEXT_FOLDERS:%=%/*.md)))

# What docs/api is the source of: the man pages and what editors read, in build/, and the
# pages of docs/reference, which are in git.
GENERATE := docs/generate/main.lua
GENERATED_FROM := $(wildcard docs/generate/*.lua docs/api/*.lua) $(BUILD)/streamlab
MAN_PAGES   := $(BUILD)/man/streamlab.1 $(BUILD)/man/streamlab-lua.3
EDITOR_FILE := $(BUILD)/share/streamlab.d.lua

# ---- products -------------------------------------------------------------

# A plugin of an earlier build with nvcc does not stay beside one without.
all: $(BUILD)/streamlab $(BUILD)/streamlab.so $(PLUGIN)
	$(if $(PLUGIN),@:,@rm -f $(BUILD)/streamlab_cuda.so)

# A file says which line editor and which writer of .zip files the program was linked with;
# when that changes, it is linked anew.
LINKED := $(BUILD)/linked.$(or $(LINE_EDITOR),none).$(or $(ZIP_WRITER),none)
$(BUILD)/streamlab: $(REPL) $(EDIT) $(ZIP) $(BINDINGS) $(LIBRARY) \
                    $(if $(wildcard $(LINKED)),,relink)
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) $(EXPORT_FLAGS) -o $@ $(filter %.o,$^) $(LUA_LIB) \
	    $(PROGRAM_ZIP) $(PROGRAM_ZLIB) $(PROGRAM_EDIT) $(LIBS)
	@rm -f $(BUILD)/linked.* && touch $(LINKED)

$(BUILD)/streamlab.so: $(BINDINGS) $(LIBRARY) $(BUILD)/module.map
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) $(MODULE_FLAGS) -o $@ $(filter %.o,$^) \
	    $(ZLIB) $(LIBS)

# What the module and the plugin export.
$(BUILD)/module.map $(BUILD)/plugin.map:
	@mkdir -p $(@D)
	@echo '{ global: $(if $(filter %plugin.map,$@),sl_backend_entry,luaopen_streamlab); local: *; };' > $@

# Nothing else links CUDA's libraries, and the plugin only the static run-time; the
# others are opened when they are first needed.
$(BUILD)/streamlab_cuda.so: $(CUDA) $(PLUGIN_CORE) $(NUMBERS) $(BUILD)/plugin.map
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,--version-script=$(BUILD)/plugin.map -Wl,--no-undefined \
	    -Wl,--exclude-libs,ALL -o $@ $(filter %.o,$^) $(CUDA_LIBS)

$(CUDA_C): CPPFLAGS += $(CUDA_FLAGS)

$(BUILD)/%.cu.o: %.cu
	$(call say,nvcc,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O3 -std=c++17 $(CUDA_CODE) $(NVCC_FLAGS) -t 0 -MMD -MP -MF $(@:.o=.d) \
	    -c -o $@ $<

$(BUILD)/%.o: %.c
	$(call say,cc,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(REPL) $(EDITORS) $(ZIPS) $(BINDINGS): CPPFLAGS += -I$(LUA_INC)
$(REPL) $(EDITORS) $(ZIPS) $(BINDINGS): | need-lua-headers
$(BUILD)/streamlab: | need-lua

need-lua-headers:
	$(if $(LUA_INC),@:,$(error Lua 5.4's headers are missing (lua.h): run 'sh scripts/setup.sh', \
	or give LUA_INCLUDE=folder))
need-lua:
	$(if $(and $(LUA_INC),$(LUA_LIB)),@:,$(error Lua 5.4 is missing (lua.h and the static \
	library): run 'sh scripts/setup.sh', or give LUA_INCLUDE=folder and LUA_LIBRARY=file))

$(TIMELINE): | $(BUILD)/zlib
$(BUILD)/zlib:
	@mkdir -p $(@D)
	@echo '#include <zlib.h>' | $(CC) $(CPPFLAGS) -fsyntax-only -xc - \
	    || { echo 'zlib is missing (zlib.h): run sh scripts/setup.sh' >&2; exit 1; }
	@touch $@

$(BUILD)/embedded.c: scripts/embed.sh $(EMBEDDED) bindings bindings/words scripts/profiles
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh bindings/embedded.h lsl_embedded lsl_embedded_files \
	    $(EMBEDDED) > $@.new && mv $@.new $@

$(BUILD)/report_page.c: scripts/embed.sh $(PAGE) core/pictures/report
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh core/pictures/report_page.h sl__page_file sl__page_files \
	    $(PAGE) > $@.new && mv $@.new $@

$(BUILD)/program_files.c: scripts/embed.sh $(PROGRAM_FILES) $(PROGRAM_FOLDERS)
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh repl/run/embedded.h embedded_file embedded_files \
	    $(PROGRAM_FILES) > $@.new && mv $@.new $@

$(BUILD)/embedded.o $(BUILD)/report_page.o $(BUILD)/program_files.o: %.o: %.c
	$(Q)$(CC) $(CPPFLAGS) -I. $(ALL_CFLAGS) -c -o $@ $<

include tests/tests.mk

puzzler-now: all
	$(Q)$(BUILD)/streamlab scripts/puzzler.lua

# Each of these sets the machine up first; make is then run again, because it has looked
# for Lua before there was one.
AGAIN = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))
setup:
	@CC='$(CC)' LUA_INCLUDE='$(LUA_INCLUDE)' LUA_LIBRARY='$(LUA_LIBRARY)' LUA='$(LUA)' \
	    sh scripts/setup.sh

puzzler: setup
	@+$(AGAIN) puzzler-now
# ---- docs -----------------------------------------------------------------
$(BUILD)/man/streamlab-lua.3: $(BUILD)/man/streamlab.1 ;
$(BUILD)/man/streamlab.1: $(GENERATED_FROM)
	$(call say,docs,$(BUILD)/man)
	$(Q)$(BUILD)/streamlab $(GENERATE) man $(BUILD)/man

$(EDITOR_FILE): $(GENERATED_FROM)
	$(call say,docs,$@)
	$(Q)$(BUILD)/streamlab $(GENERATE) editor $(@D)

docs-now: all $(MAN_PAGES) $(EDITOR_FILE)
	$(call say,docs,docs/reference)
	$(Q)$(BUILD)/streamlab $(GENERATE) reference docs/reference

.PHONY: docs docs-now
docs: setup
	@+$(AGAIN) docs-now

# ---- installing -----------------------------------------------------------

INSTALL = DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' BINDIR='$(BINDIR)' LIBDIR='$(LIBDIR)' \
          DATADIR='$(DATADIR)' MANDIR='$(MANDIR)' LUA_CMOD='$(LUA_CMOD)' sh scripts/install.sh

install: all $(MAN_PAGES) $(EDITOR_FILE)
	$(Q)$(INSTALL) install $(BUILD)
uninstall:
	$(Q)$(INSTALL) uninstall $(BUILD)

# What a rock has of it: the module, and beside it the plugin if there is one.
rock: $(BUILD)/streamlab.so $(PLUGIN)
install-rock:
	$(Q)mkdir -p '$(LUA_CMOD)'
	$(Q)cp $(BUILD)/streamlab.so $(wildcard $(BUILD)/streamlab_cuda.so) '$(LUA_CMOD)'

# ---- others ---------------------------------------------------------------

clean:
	rm -rf $(BUILD)

help:
	@echo 'make                build/streamlab, build/streamlab.so, and where there is nvcc'
	@echo '                    build/streamlab_cuda.so'
	@echo 'make puzzler        set the machine up, build, and run scripts/puzzler.lua'
	@echo 'make check          set the machine up, build, and run all tests'
	@echo 'make check-long     the tests that take longest: attacks on the grader, measured figures, sweeps'
	@echo 'make check-asan     the tests under address and undefined-behaviour sanitizers'
	@echo 'make check-tsan     the CUDA backend'"'"'s threads, with CUDA played, under the thread sanitizer'
	@echo 'make check-gc       the Lua tests with the collector running all the time'
	@echo 'make check-races    thousands of random programs with known races, under the race checker'
	@echo 'make check-oom      a script with each of its allocations failing once'
	@echo 'make check-hta      traces held against Holistic Trace Analysis, which PyPI has'
	@echo 'make check-browser  the pictures in headless Chromium'
	@echo 'make check-bare     the README'"'"'s two commands, the rock and an install, on a bare Debian'
	@echo 'make check-torch    small programs in PyTorch and here, which must show the same or what is stated'
	@echo 'make check-cuda     what both backends must do, on the GPU'
	@echo 'make check-memcheck the same under compute-sanitizer'
	@echo 'make fuzz           the reader of traces under libFuzzer, for FUZZ_SECONDS=600'
	@echo 'make fuzz-api       random programs of calls, from FUZZ_SEED=1 on, with Lua sanitized as well'
	@echo 'make bench          the figures of the simulated GPU, held against their limits'
	@echo 'make bench-cuda     the CUDA backend beside plain CUDA C and PyTorch, on the GPU'
	@echo 'make docs           docs/reference, the man pages and what editors read, of docs/api'
	@echo 'make install        put it below PREFIX=/usr/local; DESTDIR= for packagers'
	@echo 'make uninstall      remove it from there'
	@echo 'make setup          install what is missing, nothing else'
	@echo 'make clean          remove build/'
	@echo 'Settings: CC CFLAGS LDFLAGS BUILD PREFIX DESTDIR NVCC LIBEDIT LUA_INCLUDE LUA_LIBRARY LUA'
	@echo '          TEST_JOBS V=1'

.PHONY: all relink need-lua need-lua-headers need-nvcc install uninstall rock install-rock \
        check-now long-now bare cuda-now memcheck-now tsan-now gc-now races-now oom-now hta-now \
        browser-now bench-now bench-cuda-now puzzler-now setup puzzler check check-long check-bare \
        check-cuda check-torch torch-now check-memcheck check-asan check-tsan check-gc check-races check-oom check-hta \
        check-browser bench bench-cuda fuzz fuzz-api fuzz-api-now clean help
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
