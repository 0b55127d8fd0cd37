# streamlab: build and installation. tests/tests.mk has the tests and benchmarks.
# What is built lies in build/, packages in dist/. V=1 shows the commands. `make help` prints the lines
# that begin with "##".
#
## make                build/streamlab, build/streamlab.so, and where there are nvcc and a GPU
##                     build/streamlab_cuda.so for this GPU
## make cuda           the same with build/streamlab_cuda.so for all GPUs

# Where make install puts things. DESTDIR stands in front of all of them.
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
LIBDIR   ?= $(PREFIX)/lib
DATADIR  ?= $(PREFIX)/share
MANDIR   ?= $(DATADIR)/man
LUA_CMOD ?= $(LIBDIR)/lua/5.4

DRY_RUN  := $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
# In front of a line with $(MAKE), which make runs even then, and which does more than that.
UNLESS_DRY_RUN := $(if $(DRY_RUN),exit 0; )
# None of make's own rules: nothing here needs them.
MAKEFLAGS += --no-builtin-rules

# ---- settings -------------------------------------------------------------

.DEFAULT_GOAL := all
# The only place of the version: what is built and packed has it from here.
VERSION  := $(shell cat VERSION)

CC       ?= cc
# Lines of the source, but no variables: for a debugger, make CFLAGS="-Og -g" BUILD=build/debug.
CFLAGS   ?= -O2 -g1
LDFLAGS  ?=
BUILD    ?= build
# The folder of Lua 5.4's lua.h, the static library, the interpreter; found where these are empty.
LUA_INCLUDE ?=
LUA_LIBRARY ?=
LUA         ?=
# For the compiler's -fsanitize=; set by check-asan and check-tsan.
SANITIZE ?=
# For GCC's -fprofile-: "generate" makes a program that counts how often its code runs, "use" compiles
# by what was counted. Set by `make fast`.
LEARN    ?=
# CUDA's compiler; the CUDA backend is built where there are one and a GPU. NVCC= builds without.
NVCC     ?= $(firstword $(wildcard $(addsuffix /nvcc,$(subst :, ,$(PATH))) \
              /usr/local/cuda/bin/nvcc))
# LIBSECCOMP=0 builds as if the library were missing that filters the system calls of code that is
# graded.
LIBSECCOMP ?= 1
# HARDEN=0 builds without what distributions check while a program runs: the stack, sizes of copies.
HARDEN   ?= 1
# The devices of GPUs, which are asked what they are.
GPUS     := $(wildcard /dev/nvidia[0-9]* /dev/nvhost-gpu /dev/dxg)
# How many files are compiled at a time by the goals in SETS_UP, where make has no -j.
JOBS     ?= $(PROCESSORS)

# ---- this machine -----------------------------------------------------------

# What scripts/configure.sh finds is kept in config.mk. It looks again when a setting that it
# reads has changed, when a library that it found is gone, and as long as something is missing.
QUOTE    = '$(subst ','\'',$(1))'
SETTINGS := $(strip $(foreach v,CC CPPFLAGS CFLAGS LUA_INCLUDE LUA_LIBRARY LUA NVCC \
              LIBSECCOMP HARDEN GPUS,$(v)=$(call QUOTE,$($(v)))))
# These goals do without.
ifneq ($(filter-out check-release clean format help install-rock lint release setup uninstall,$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif
FOUND    := $(filter /%,$(LUA_INC) $(LUA_LIB) $(CUDA_LIB) $(CUPTI_H) $(PROGRAM_ZLIB) \
              $(PROGRAM_FILTER))
GONE     := $(filter-out $(wildcard $(FOUND)),$(FOUND))
ifneq ($(value FOUND_FOR),$(SETTINGS))
GONE     += settings
endif

# These goals install what is missing first, but not under make -n.
SETS_UP  := puzzler docs
$(BUILD)/config.mk: scripts/configure.sh $(if $(strip $(GONE) $(MISSING)),look-again)
	@mkdir -p $(@D)
	$(if $(DRY_RUN),,$(if $(filter $(SETS_UP),$(MAKECMDGOALS)),@$(SETTINGS) sh scripts/setup.sh))
	@printf 'define FOUND_FOR\n%s\nendef\n' $(call QUOTE,$(SETTINGS)) >$@.new
	@$(SETTINGS) sh scripts/configure.sh >>$@.new
	@if cmp -s $@.new $@ && [ -z '$(filter %.sh,$?)' ]; then rm $@.new; else mv $@.new $@; fi

# ---- flags ----------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# A sanitizer checks more, and sees less with these.
ALL_CFLAGS = -std=c11 $(CFLAGS) $(LEVEL) $(if $(SANITIZE),,$(HARDEN_COMPILE)) $(WARNINGS) -ffp-contract=off -fPIC \
             -fno-semantic-interposition -MMD -MP $(LEARN_FLAGS) $(BOTH_FLAGS)
# Instead of that in CFLAGS, where tests.mk gives one.
LEVEL    :=
CPPFLAGS += -D_POSIX_C_SOURCE=200809L
HAS_VERSION := -DSTREAMLAB_VERSION='"$(VERSION)"'
ZLIB     := -lz
LIBS     := -lm
# What compiling and linking both need. Tests link the objects of `make fast` as they are.
BOTH_FLAGS := $(if $(filter use,$(LEARN)),-flto=auto -ffat-lto-objects,-fno-lto)
ifneq ($(SANITIZE),)
BOTH_FLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ifeq ($(LEARN),generate)
BOTH_FLAGS += -fprofile-generate -fprofile-update=prefer-atomic
endif
ifeq ($(LEARN),use)
# What did not run is compiled as without counts, not for size.
LEARN_FLAGS := -fprofile-use -fprofile-partial-training -Wno-missing-profile
endif
ifeq ($(SYSTEM),Darwin)
EXPORT_FLAGS := -Wl,-export_dynamic
MODULE_FLAGS := -bundle -undefined dynamic_lookup -Wl,-exported_symbol,_luaopen_streamlab
else
EXPORT_FLAGS := -Wl,-E
MODULE_FLAGS := -shared -Wl,--version-script=$(BUILD)/module.map
LIBS         += -ldl
endif

# The plugin: code for GPUs; PTX of the lowest architecture, which the driver can compile for all
# others from there on, and of a later one, which is faster on GPUs that come after. Code for 8.7 is
# Jetson's: it runs no code for desktop GPUs. A sanitized program does without it: two run-time
# systems that both map the address space do not get along.
ifneq ($(CUDA_LACKS),)
$(warning no CUDA backend in this build: nvcc needs $(CUDA_LACKS), which is not here \
  (NVCC= builds without it, NVCC=/path/bin/nvcc names another))
endif
ifneq ($(CUDA_LIB),)
# For the GPUs that answer here, if nvcc knows them; for all where it is asked for, or taken
# elsewhere. A build that has code for more keeps it.
CUDA_ALL    := $(filter $(NVCC_ARCHES),70 75 80 86 87 89 90 100 120)
CUDA_HERE   := $(if $(filter-out $(NVCC_ARCHES),$(GPU_ARCHES)),$(CUDA_ALL),$(GPU_ARCHES))
GOALS_ALL   := cuda install rock wheel deb check-packages
GOALS_SOME  := check-cuda check-memcheck bench-cuda
CUDA_WANTED := $(or $(if $(filter $(GOALS_ALL),$(MAKECMDGOALS)),$(CUDA_ALL)),$(CUDA_HERE), \
                 $(if $(filter $(GOALS_SOME),$(MAKECMDGOALS)),$(CUDA_ALL)))
CUDA_HAD    := $(filter $(NVCC_ARCHES),$(shell cat $(BUILD)/cuda_arches 2>/dev/null))
CUDA_ARCHES := $(if $(filter-out $(CUDA_HAD),$(CUDA_WANTED)),$(CUDA_WANTED),$(CUDA_HAD))
CUDA_FOR    := $(or $(CUDA_ARCHES),$(CUDA_ALL))
CUDA_PTX    := $(firstword $(CUDA_FOR)) $(filter 90,$(CUDA_FOR))
CUDA_CODE   := $(foreach a,$(CUDA_FOR),-gencode arch=compute_$(a),code=sm_$(a)) \
               $(foreach a,$(sort $(CUDA_PTX)),-gencode arch=compute_$(a),code=compute_$(a))
CUDA_FLAGS  := -isystem $(CUDA_HOME)/include -isystem $(CUDA_HOME)/extras/CUPTI/include \
               -DSTREAMLAB_CUDA_LIB='"$(CUDA_LIB)"' \
               -DSTREAMLAB_CUDA_CODE='"$(CUDA_FOR:%=sm_%)"' \
               -DSTREAMLAB_CUDA_PTX='"compute_$(firstword $(CUDA_PTX))"'
# With these the host code that nvcc writes needs no C++ run-time.
NVCC_FLAGS  := -Xcompiler -fPIC,-Wall,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics
CUBLAS_LIBS := -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lcublas -lcublasLt
CUDA_LIBS   := $(CUDA_LIB)/libcudart_static.a -lpthread -ldl -lrt -lm
endif
PLUGIN := $(if $(CUDA_ARCHES),$(if $(SANITIZE),,$(BUILD)/streamlab_cuda.so))

ifeq ($(V),)
Q := @
# Each step with its number, and how many there are: the first one asks make -n.
say = @printf '$(if $(DRY_RUN),,$(number) )%-6s %s\n' '$(1)' '$(2)'
number = $(if $(STEPS),,$(eval STEPS := $(shell $(MAKE) -n $(MAKEOVERRIDES) $(MAKECMDGOALS) \
         2>/dev/null | grep -c '^printf .%-6s')))$(eval DONE += x)[$(words $(DONE))/$(STEPS)]
endif

# ---- files ----------------------------------------------------------------

objects = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)))

CORE     := $(call objects,core/*.c core/race/*.c core/graph/*.c core/custom/*.c core/comm/*.c)
TIMELINE_ROOMS := core/text core/timeline core/whatif core/traces core/pictures
TIMELINE := $(call objects,$(TIMELINE_ROOMS:%=%/*.c)) $(BUILD)/report_page.o \
            $(BUILD)/core/record/spool_pack.o
SIM      := $(call objects,core/sim/*.c)
# The figures of profiles are made by a program without them, if Lua's library is here to link one.
NO_FIGURES := $(BUILD)/bindings/figures_none.o
FIGURES  := $(if $(LUA_LIB),$(BUILD)/figures.o,$(NO_FIGURES))
# What is built in is compiled to bytecode by a first program, for its own Lua.
NO_COMPILED := $(BUILD)/bindings/compiled_none.o $(BUILD)/repl/run/program_compiled_none.o
COMPILED := $(if $(filter $(NO_FIGURES),$(FIGURES)),$(NO_COMPILED),$(BUILD)/compiled.o)
BARE_BINDINGS := $(call objects,bindings/*.c) $(BUILD)/embedded.o
BINDINGS := $(filter-out $(NO_FIGURES),$(BARE_BINDINGS)) $(FIGURES)
# One of the two that filter system calls is linked.
NO_FILTER := $(BUILD)/repl/sandbox/syscalls_none.o
FILTERS  := $(call objects,repl/sandbox/syscalls*.c)
# Objects that are replaced by others where a system lacks what they need (playground.mk).
REPLACED :=
REPL     := $(filter-out $(FILTERS) $(REPLACED),$(call objects,repl/*.c repl/*/*.c)) \
            $(BUILD)/program_files.o
FILTER   := $(if $(CALL_FILTER),$(filter-out $(NO_FILTER),$(FILTERS)),$(NO_FILTER))
NUMBERS  := $(call objects,core/numbers/*.c)
EMULATE  := $(call objects,core/emulate/*.c) $(BUILD)/device_text.o $(BUILD)/device_calls.o
LIBRARY  := $(CORE) $(TIMELINE) $(NUMBERS) $(EMULATE) $(SIM)
CUDA_C   := $(call objects,core/cuda/*.c)
# The library that is loaded into programs that are recorded: C alone, with CUPTI's header.
RECORD_C := $(call objects,core/record/*.c)
RECORD   := $(RECORD_C) $(BUILD)/core/cuda/cuda_kernel_names.o $(BUILD)/core/base.o \
            $(BUILD)/core/table.o $(BUILD)/core/timeline/keys.o
RECORDER := $(if $(CUPTI_INC),$(if $(filter Linux,$(SYSTEM)),$(BUILD)/libstreamlab_record.so))
# Files of the core that the plugin links as well.
PLUGIN_CORE := $(BUILD)/core/base.o $(BUILD)/core/error.o $(BUILD)/core/host_limits.o \
               $(BUILD)/core/table.o
CUDA     := $(CUDA_C) $(patsubst %.cu,$(BUILD)/%.cu.o,$(wildcard core/cuda/*.cu))

EMBEDDED := $(sort $(wildcard bindings/*.lua bindings/exports/*.lua bindings/pictures/*.lua bindings/words/*.lua scripts/profiles/*.lua)) \
            docs/api/elsewhere.lua
# The files of the .html report.
PAGE     := $(sort $(wildcard core/pictures/report/*))
# What is compiled with every kernel that runs on the host.
DEVICE   := core/emulate/abi.h $(sort $(wildcard core/emulate/device/*.h))
# The program's own Lua: subcommands, the console, course labs, the texts of help; and the
# files that `lab new` and `lab pack` copy.
CONSOLE_ROOMS   := completion dot_commands help values
TEMPLATE        := repl/labs/template
TEXT_FOLDERS    := repl/labs/autograder $(TEMPLATE) $(TEMPLATE)/tests $(TEMPLATE)/right \
                   $(TEMPLATE)/wrong
PROGRAM_FOLDERS := docs/api repl/run repl/run/errors repl/commands repl/compare repl/console \
                   $(CONSOLE_ROOMS:%=repl/console/%) repl/labs repl/labs/results repl/plans \
                   repl/predict repl/server repl/usage $(TEXT_FOLDERS)
PROGRAM_FILES   := $(sort $(wildcard $(PROGRAM_FOLDERS:%=%/*.lua) $(TEXT_FOLDERS:%=%/*.sh) \
                     $(TEXT_FOLDERS:%=%/*.md) $(TEXT_FOLDERS:%=%/*.change)))

BUILT_IN_LUA := $(filter bindings/%.lua,$(EMBEDDED)) \
                $(filter-out $(TEXT_FOLDERS:%=%/%),$(filter %.lua,$(PROGRAM_FILES)))

# Made from docs/api and repl/usage: the man pages, the file for editors and the completion of bash, in
# build/, and the pages of docs/reference, which are in git.
GENERATE := docs/generate/main.lua
GENERATED_FROM := $(wildcard docs/generate/* docs/api/*.lua repl/usage/*.lua) $(BUILD)/streamlab
MAN_PAGES   := $(BUILD)/man/streamlab.1 $(BUILD)/man/streamlab-lua.3
SHARE_FILES := $(BUILD)/share/streamlab.d.lua $(BUILD)/share/completion.bash

# ---- products -------------------------------------------------------------

# A build without nvcc removes the plugin of an earlier build, one without CUPTI's header the
# recorder.
all: $(BUILD)/streamlab $(BUILD)/streamlab.so $(RECORDER) $(or $(PLUGIN),$(BUILD)/no_plugin)
	$(if $(PLUGIN),@rm -f $(BUILD)/no_plugin,@rm -f $(BUILD)/streamlab_cuda.so)
	$(if $(RECORDER),,@rm -f $(BUILD)/libstreamlab_record.so)
cuda: $(if $(PLUGIN),all,need-nvcc)
# It says so once.
$(BUILD)/no_plugin:
	$(if $(and $(CUDA_LIB),$(if $(SANITIZE),,yes)),@echo "  no GPU answers: the CUDA backend is not built; \`make cuda' builds it for all GPUs")
	@touch $@

# Instruments are read from there. The link is relative, so that a checkout can be moved.
$(BUILD)/scripts:
	@mkdir -p $(@D)
	@case $(BUILD) in /* | *..*) up=$(CURDIR) ;; *) up=$$(echo $(BUILD) | sed 's,[^/]*[^/],..,g') ;; esac; \
	    ln -sfn "$$up/scripts" $@

# Linked again when another Lua is found.
$(BUILD)/streamlab: $(filter-out $(NO_COMPILED),$(REPL) $(BINDINGS)) $(COMPILED) $(FILTER) $(LIBRARY) \
    $(BUILD)/config.mk
$(BUILD)/first: $(REPL) $(FILTER) $(BARE_BINDINGS) $(LIBRARY) $(BUILD)/config.mk
$(BUILD)/streamlab: | $(BUILD)/scripts
$(BUILD)/streamlab $(BUILD)/first:
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(HARDEN_LINK) $(if $(SANITIZE),,$(HARDEN_PIE)) $(LDFLAGS) $(EXPORT_FLAGS) \
	    -o $@ $(filter %.o,$^) $(LUA_LIB) \
	    $(PROGRAM_ZLIB) $(PROGRAM_FILTER) $(LIBS)

$(BUILD)/streamlab.so: $(BINDINGS) $(LIBRARY) $(BUILD)/module.map
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(HARDEN_LINK) $(LDFLAGS) $(MODULE_FLAGS) -o $@ $(filter %.o,$^) \
	    $(ZLIB) $(LIBS)

## make fast           all, compiled by GCC for what the benchmarks do most: about a fifth quicker
LEARNT   = $(sort $(filter-out %.cu.o,$(REPL) $(FILTER) $(BARE_BINDINGS) $(FIGURES) $(COMPILED) \
             $(LIBRARY) $(CUDA) $(PLAYED) \
             $(addprefix $(T)/,fake_plugin.o fake_cublaslt.o fake_cupti.o)))
# A product is made again when it is gone: for objects that are gone alone make does nothing.
PRODUCTS = $(addprefix $(BUILD)/,streamlab streamlab.so first) $(PLUGIN) $(PLAYED_PLUGIN) \
             $(addprefix $(T)/,fake_cublaslt.so fake_cupti.so)
fast:
	$(Q)$(CC) -fprofile-partial-training -E -x c /dev/null >/dev/null || \
	    { echo 'make fast: needs GCC, and CC is $(CC)'; exit 1; }
	$(Q)rm -f $(LEARNT) $(LEARNT:.o=.gcda) $(PRODUCTS)
	$(Q)$(MAKE) LEARN=generate $(BUILD)/streamlab $(PLAYED_PLUGIN) $(if $(PLAYED_PLUGIN),$(PLAYED_LIBRARIES))
	$(call say,learn,$(BUILD)/streamlab)
	$(Q)sh tests/bench/learn.sh $(BUILD) >/dev/null
	$(Q)rm -f $(LEARNT) $(PRODUCTS)
	$(Q)$(MAKE) LEARN=use all

# What the module and the plugin export.
$(BUILD)/module.map $(BUILD)/plugin.map:
	@mkdir -p $(@D)
	@echo '{ global: $(if $(filter %plugin.map,$@),sl_backend_entry,luaopen_streamlab); local: *; };' > $@

# Nothing else links CUDA's libraries, and the plugin only the static run-time; the
# others are opened when they are first needed.
$(BUILD)/streamlab_cuda.so: $(CUDA) $(PLUGIN_CORE) $(NUMBERS) $(BUILD)/plugin.map
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(HARDEN_LINK) $(LDFLAGS) -shared -Wl,--version-script=$(BUILD)/plugin.map \
	    -Wl,--no-undefined \
	    -Wl,--exclude-libs,ALL -o $@ $(filter %.o,$^) $(CUDA_LIBS)

$(CUDA_C): CPPFLAGS += $(CUDA_FLAGS)

# It exports what the driver calls, and stays where it is once loaded: it has a thread.
$(BUILD)/record.map: Makefile
	@mkdir -p $(@D)
	@echo '{ global: InitializeInjection; InitializeInjectionNvtx2; local: *; };' > $@
$(BUILD)/libstreamlab_record.so: $(RECORD) $(BUILD)/record.map
	$(call say,link,$@)
	$(Q)$(CC) $(BOTH_FLAGS) $(HARDEN_LINK) $(LDFLAGS) -shared -Wl,--version-script=$(BUILD)/record.map \
	    -Wl,--no-undefined -Wl,-z,nodelete -o $@ $(filter %.o,$^) -lpthread -ldl
$(RECORD_C): CPPFLAGS += $(CUPTI_INC)

# Loops over the elements of whole tensors, which GCC turns into vectors at this level only.
$(BUILD)/core/numbers/elements.o $(BUILD)/core/dtype.o: CFLAGS += -O3

$(BUILD)/%.cu.o: %.cu $(BUILD)/cuda_arches
	$(call say,nvcc,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) -O3 -std=c++17 $(CUDA_CODE) $(NVCC_FLAGS) -t 0 -MMD -MP -MF $(@:.o=.d) \
	    -c -o $@ $<

# Files that say the version; they are compiled again when it changes.
VERSIONED := $(addprefix $(BUILD)/,repl/main.o bindings/streamlab.o core/traces/kineto_write_header.o \
               core/pictures/report_data.o tests/timeline/t-60-kineto.o)
$(VERSIONED): CPPFLAGS += $(HAS_VERSION)
$(VERSIONED): VERSION

# What a compiler gets; it compiles again where that has changed.
COMPILED_WITH := $(CFLAGS) $(HARDEN_COMPILE)
.PHONY: always
ifneq ($(strip $(shell cat $(BUILD)/flags 2>/dev/null)),$(strip $(COMPILED_WITH)))
$(BUILD)/flags: always
endif
$(BUILD)/flags:
	@mkdir -p $(@D)
	@printf '%s\n' $(call QUOTE,$(COMPILED_WITH)) >$@

# The same for nvcc, and for the sentence that says what it was compiled for.
$(BUILD)/core/cuda/cuda_backend.o: $(BUILD)/cuda_arches
ifneq ($(strip $(CUDA_HAD)),$(strip $(CUDA_ARCHES)))
$(BUILD)/cuda_arches: always
endif
$(BUILD)/cuda_arches:
	@mkdir -p $(@D)
	@echo '$(strip $(CUDA_ARCHES))' >$@

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call say,cc,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(REPL) $(FILTERS) $(BARE_BINDINGS) $(BUILD)/compiled.o: CPPFLAGS += -I$(LUA_INC)
$(REPL) $(FILTERS) $(BARE_BINDINGS): | need-lua-headers
$(TIMELINE): | need-zlib
$(BUILD)/streamlab $(BUILD)/first: | need-lua

need-lua-headers:
	$(if $(LUA_INC),@:,$(error Lua 5.4's headers are missing (lua.h): run 'sh scripts/setup.sh', \
	or give LUA_INCLUDE=folder))
need-lua:
	$(if $(and $(LUA_INC),$(LUA_LIB)),@:,$(error Lua 5.4 is missing (lua.h and the static \
	library): run 'sh scripts/setup.sh', or give LUA_INCLUDE=folder and LUA_LIBRARY=file))

need-zlib:
	$(if $(HAS_ZLIB),@:,$(error zlib is missing (zlib.h): run 'sh scripts/setup.sh'))

$(BUILD)/embedded.c: scripts/embed.sh $(EMBEDDED) bindings bindings/exports bindings/pictures bindings/words scripts/profiles
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh bindings/embedded_files.h lsl_embedded lsl_embedded_files \
	    $(EMBEDDED) > $@.new && mv $@.new $@

$(BUILD)/report_page.c: scripts/embed.sh $(PAGE) core/pictures/report
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh core/pictures/report_page.h sl__page_file sl__page_files \
	    $(PAGE) > $@.new && mv $@.new $@

$(BUILD)/device_text.c: scripts/embed.sh $(DEVICE) core/emulate/device
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh core/emulate/device_text.h emu_device_file emu_device_files \
	    $(DEVICE) > $@.new && mv $@.new $@

# An object that the user's compiler links into kernels: nothing of this build's own flags is in it.
CALLS_OBJECT := $(if $(DEVICE),$(BUILD)/core/emulate/device/compiler_calls.o)
$(BUILD)/core/emulate/device/compiler_calls.o: core/emulate/device/compiler_calls.c core/emulate/abi.h
	$(call say,cc,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -fPIC -ffreestanding -fno-lto -fno-stack-protector \
	    -fno-asynchronous-unwind-tables $(WARNINGS) -Wno-missing-prototypes -c -o $@ $<

$(BUILD)/device_calls.c: $(CALLS_OBJECT)
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q){ printf '#include "core/emulate/device_text.h"\n\nconst unsigned char emu_compiler_calls[] = {\n'; \
	    od -An -v -tu1 $(or $(CALLS_OBJECT),/dev/null) | sed 's/[0-9][0-9]*/&,/g'; \
	    printf '0};\nconst size_t emu_compiler_calls_bytes = sizeof emu_compiler_calls - 1;\n'; \
	    } > $@.new && mv $@.new $@

$(BUILD)/program_files.c: scripts/embed.sh $(PROGRAM_FILES) $(PROGRAM_FOLDERS)
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh repl/run/embedded.h embedded_file embedded_files \
	    $(PROGRAM_FILES) > $@.new && mv $@.new $@

# The profiles, and what reads and completes them.
$(BUILD)/figures.c: bindings/generate/figures.lua $(sort $(wildcard scripts/profiles/*.lua)) bindings/l_lists.c \
    $(addprefix bindings/,profiles.lua profile_parts.lua spreads.lua host_days.lua kernel_costs.lua) \
    | $(BUILD)/first
	$(call say,embed,$@)
	$(Q)$(BUILD)/first -E --backend sim bindings/generate/figures.lua > $@.new && mv $@.new $@

# What builds the program compiles its files again: they are of its own Lua.
$(BUILD)/compiled.c: bindings/generate/compiled.lua $(BUILT_IN_LUA) $(BUILD)/config.mk | $(BUILD)/first
	$(call say,embed,$@)
	$(Q)$(BUILD)/first -E --backend sim bindings/generate/compiled.lua $(BUILT_IN_LUA) > $@.new && mv $@.new $@

$(BUILD)/embedded.o $(BUILD)/figures.o $(BUILD)/compiled.o $(BUILD)/report_page.o $(BUILD)/device_text.o $(BUILD)/device_calls.o $(BUILD)/program_files.o: %.o: %.c
	$(Q)$(CC) $(CPPFLAGS) -I. $(ALL_CFLAGS) -c -o $@ $<

# ---- docs -----------------------------------------------------------------
$(BUILD)/man/streamlab-lua.3: $(BUILD)/man/streamlab.1 ;
$(BUILD)/man/streamlab.1: $(GENERATED_FROM)
	$(call say,docs,$(BUILD)/man)
	$(Q)$(BUILD)/streamlab $(GENERATE) man $(BUILD)/man

$(BUILD)/share/streamlab.d.lua $(BUILD)/share/completion.bash: $(GENERATED_FROM)
	$(call say,docs,$@)
	$(Q)$(BUILD)/streamlab $(GENERATE) $(if $(filter %.lua,$@),editor,completion) $(@D)

## make docs           docs/reference, the man pages, what editors read and the completion of bash, from
##                     docs/api and repl/usage
docs: all $(MAN_PAGES) $(SHARE_FILES)
	$(call say,docs,docs/reference)
	$(Q)$(BUILD)/streamlab $(GENERATE) reference docs/reference

# ---- installing -----------------------------------------------------------

INSTALL = DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' BINDIR='$(BINDIR)' LIBDIR='$(LIBDIR)' \
          DATADIR='$(DATADIR)' MANDIR='$(MANDIR)' LUA_CMOD='$(LUA_CMOD)' sh scripts/install.sh

## make install        installs below PREFIX=/usr/local; DESTDIR= is for packagers
install: all $(MAN_PAGES) $(SHARE_FILES)
	$(Q)$(INSTALL) install $(BUILD)
## make uninstall      removes it from there
uninstall:
	$(Q)$(INSTALL) uninstall $(BUILD)

# What a rock contains: the module, and beside it the plugin if there is one. It has no program, and
# so no recorder.
rock: $(BUILD)/streamlab.so $(PLUGIN)
install-rock:
	$(Q)mkdir -p '$(LUA_CMOD)'
	$(Q)cp $(BUILD)/streamlab.so $(wildcard $(BUILD)/streamlab_cuda.so) '$(LUA_CMOD)'

# ---- packages ---------------------------------------------------------------

DIST    ?= dist
STRIP   ?= strip
# What is installed below a folder, without symbols for debuggers. $(1): PREFIX; $(2): settings
STAGED = $(BUILD)/staged/$@
staged = rm -rf $(STAGED) && DESTDIR='$(abspath $(STAGED))' PREFIX='$(1)' BINDIR='$(1)/bin' \
         LIBDIR='$(1)/lib' DATADIR='$(1)/share' MANDIR='$(1)/share/man' LUA_CMOD='$(2)' \
         sh scripts/install.sh install $(BUILD) >/dev/null && \
         find $(STAGED) \( -path '*/bin/*' -o -name '*.so' \) -type f -exec $(STRIP) {} +

# A package can be made without the recorder, which its `record` then says.
no_recorder = $(if $(RECORDER),,@echo "  $@: it cannot record programs: cupti.h of CUDA 12.8 or later is not here")

## make wheel          dist/streamlab-VERSION-...whl: the program and the kernel for Jupyter, for pip
wheel: all $(MAN_PAGES) $(SHARE_FILES)
	$(Q)$(call staged,/env,/env/lib/lua/5.4)
	$(Q)rm -r $(STAGED)/env/lib/lua       # the module is for a Lua of Debian's or a rock
	$(Q)python3 bindings/python/wheel.py $(VERSION) $(STAGED)/env $(DIST)
	$(no_recorder)
## make deb            dist/streamlab_VERSION_....deb: the same for Debian
deb: all $(MAN_PAGES) $(SHARE_FILES)
	$(Q)$(call staged,/usr,/usr/lib/$(shell $(CC) -print-multiarch)/lua/5.4)
	$(Q)sh scripts/deb.sh $(VERSION) $(STAGED) $(DIST)
	$(no_recorder)

## make release        dist/: source, rock, wheel and .deb of the last commit, tried, with checksums
release:
	$(Q)CC='$(CC)' NVCC='$(NVCC)' sh scripts/release.sh $(DIST)
	$(Q)prove -v --exec sh tests/bare/packages :: $(DIST) $(BARE_SUITES)

# ---- others ---------------------------------------------------------------

## make puzzler        installs what is missing, builds, and runs scripts/puzzler.lua
puzzler: all
	$(Q)$(BUILD)/streamlab scripts/puzzler.lua

## make setup          installs what is missing, nothing else
setup:
	@$(SETTINGS) sh scripts/setup.sh

## make clean          removes build/
clean:
	rm -rf $(BUILD)

help:
	@sed -n 's/^## //p' Makefile tests/tests.mk tests/aarch64.mk repl/playground/playground.mk
	@echo 'Settings: CC CFLAGS LDFLAGS BUILD PREFIX DESTDIR NVCC LUA_INCLUDE LUA_LIBRARY LUA'
	@echo '          TEST_JOBS V=1'

.PHONY: all cuda fast look-again need-lua need-lua-headers need-zlib docs install uninstall rock \
        install-rock wheel deb release puzzler setup clean help
.SECONDARY:
.DELETE_ON_ERROR:

include tests/tests.mk
include repl/playground/playground.mk
include tests/aarch64.mk

ifneq ($(and $(JOBS),$(filter $(SETS_UP),$(MAKECMDGOALS))),)
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS) $(shell echo "$$MAKEFLAGS")),0)
MAKEFLAGS += -j$(JOBS)
endif
endif
-include $(wildcard $(foreach r,core bindings repl tests,$(patsubst %,$(BUILD)/$(r)/%.d,* */* */*/*)) \
           $(BUILD)/*.d)
