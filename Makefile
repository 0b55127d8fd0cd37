# streamlab: build, tests and benchmarks. `make help` lists the targets.
# Everything that is made lies in build/. V=1 shows the commands.

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
# How many test files run at a time.
TEST_JOBS ?= 2

# ---- flags ----------------------------------------------------------------

FIND_LUA := $(shell LUA_INCLUDE='$(LUA_INCLUDE)' LUA_LIBRARY='$(LUA_LIBRARY)' LUA='$(LUA)' \
              sh scripts/setup.sh --find-lua)
LUA_INC  := $(filter-out -,$(word 1,$(FIND_LUA)))
LUA_LIB  := $(filter-out -,$(word 2,$(FIND_LUA)))
LUA_PROG := $(filter-out -,$(word 3,$(FIND_LUA)))

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ALL_CFLAGS = -std=c11 $(CFLAGS) $(WARNINGS) -ffp-contract=off -fPIC -MMD -MP $(SANITIZE_FLAGS)
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
endif

ifeq ($(V),)
Q := @
say = @printf '  %-6s %s\n' '$(1)' '$(2)'
endif

# ---- files ----------------------------------------------------------------

objects = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)))

CORE     := $(call objects,core/*.c)
TIMELINE := $(call objects,core/timeline/*.c)
SIM      := $(call objects,core/sim/*.c)
BINDINGS := $(call objects,bindings/*.c) $(BUILD)/embedded.o
REPL     := $(call objects,repl/*.c)
LIBRARY  := $(CORE) $(TIMELINE) $(SIM)

EMBEDDED := bindings/prelude.lua $(sort $(wildcard scripts/profiles/*.lua))

# tests/core brings a backend of its own; the others use the simulated GPU.
CORE_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/core/t-*.c))
SIM_TESTS  := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/sim/t-*.c tests/timeline/t-*.c))
LUA_TESTS  := $(sort $(wildcard tests/lua/*.t.lua))
TESTS      := $(wildcard tests/*.t) $(CORE_TESTS) $(SIM_TESTS) $(LUA_TESTS) \
              $(sort $(wildcard tests/repl/*.t.lua tests/repl/*.t.sh))
TOOLS      := $(BUILD)/tests/oom/failalloc.so $(BUILD)/tests/oom/runner \
              $(BUILD)/tests/bench/timeit

TEST_ENV = STREAMLAB='$(abspath $(BUILD)/streamlab)' \
           STREAMLAB_SO='$(abspath $(BUILD)/streamlab.so)' STREAMLAB_LUA='$(LUA_PROG)' \
           STREAMLAB_SANITIZE='$(SANITIZE)'
PROVE    = $(TEST_ENV) prove -j$(TEST_JOBS) --exec tests/run

# ---- products -------------------------------------------------------------

all: $(BUILD)/streamlab $(BUILD)/streamlab.so

$(BUILD)/streamlab: $(REPL) $(BINDINGS) $(LIBRARY)
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) $(EXPORT_FLAGS) -o $@ $^ $(LUA_LIB) $(LIBS)

$(BUILD)/streamlab.so: $(BINDINGS) $(LIBRARY) $(BUILD)/module.map
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) $(MODULE_FLAGS) -o $@ $(filter %.o,$^) $(LIBS)

# What the module exports.
$(BUILD)/module.map:
	@mkdir -p $(@D)
	@echo '{ global: luaopen_streamlab; local: *; };' > $@

$(BUILD)/%.o: %.c
	$(call say,cc,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(REPL) $(BINDINGS): CPPFLAGS += -I$(LUA_INC)
$(REPL) $(BINDINGS): | need-lua

need-lua:
	$(if $(and $(LUA_INC),$(LUA_LIB)),@:,$(error Lua 5.4 is missing (lua.h and the static \
	library): run 'sh scripts/setup.sh', or give LUA_INCLUDE=folder and LUA_LIBRARY=file))

$(BUILD)/embedded.c: scripts/embed.sh $(EMBEDDED) scripts/profiles
	$(call say,embed,$@)
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh $(EMBEDDED) > $@.new && mv $@.new $@

$(BUILD)/embedded.o: $(BUILD)/embedded.c
	$(Q)$(CC) $(CPPFLAGS) -I. $(ALL_CFLAGS) -c -o $@ $<

# ---- tests ----------------------------------------------------------------

$(CORE_TESTS): $(BUILD)/%: $(BUILD)/%.o $(filter-out %/core/backends.o,$(CORE)) $(TIMELINE)
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(SIM_TESTS): $(BUILD)/%: $(BUILD)/%.o $(LIBRARY)
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/oom/failalloc.so: tests/oom/failalloc.c
	$(call say,link,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -fPIC -shared -o $@ $<

$(BUILD)/tests/oom/runner $(BUILD)/tests/bench/timeit: $(BUILD)/%: $(BUILD)/%.o
	$(call say,link,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^
$(BUILD)/tests/oom/runner.o $(BUILD)/tests/bench/timeit.o: CPPFLAGS += -D_DEFAULT_SOURCE

check-now: all $(CORE_TESTS) $(SIM_TESTS)
	$(Q)$(PROVE) $(TESTS)

gc-now: all
	$(Q)TAP_GC=stress STREAMLAB_TEST_TIMEOUT=10 $(PROVE) $(LUA_TESTS)

oom-now: all $(TOOLS)
	$(Q)$(TEST_ENV) $(BUILD)/tests/oom/runner $(BUILD)/tests/oom/failalloc.so \
	    $(BUILD)/streamlab tests/oom/script.lua

bench-now: all $(TOOLS)
	$(Q)$(BUILD)/streamlab tests/bench/bench.lua $(BUILD)

puzzler-now: all
	$(Q)$(BUILD)/streamlab scripts/puzzler.lua

# Each of these sets the machine up first; make is then run anew, because it has
# looked for Lua before there was one.
setup:
	@CC='$(CC)' LUA_INCLUDE='$(LUA_INCLUDE)' LUA_LIBRARY='$(LUA_LIBRARY)' LUA='$(LUA)' \
	    sh scripts/setup.sh

puzzler: setup
	@+$(MAKE) --no-print-directory puzzler-now
check: setup
	@+$(MAKE) --no-print-directory check-now
check-asan: setup
	@+ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 STREAMLAB_TEST_TIMEOUT=4 \
	    $(MAKE) --no-print-directory BUILD=$(BUILD)/asan SANITIZE=address,undefined check-now
check-gc: setup
	@+$(MAKE) --no-print-directory gc-now
check-oom: setup
	@+$(MAKE) --no-print-directory oom-now
bench: setup
	@+$(MAKE) --no-print-directory bench-now

# ---- others ---------------------------------------------------------------

clean:
	rm -rf $(BUILD)

help:
	@echo 'make             build/streamlab and build/streamlab.so'
	@echo 'make puzzler     set the machine up, build, and run scripts/puzzler.lua'
	@echo 'make check       set the machine up, build, and run all tests'
	@echo 'make check-asan  the tests under address and undefined-behaviour sanitizers'
	@echo 'make check-gc    the Lua tests with the collector running all the time'
	@echo 'make check-oom   a script with each of its allocations failing once'
	@echo 'make bench       the figures of the simulated GPU, held against their limits'
	@echo 'make setup       install what is missing, nothing else'
	@echo 'make clean       remove build/'
	@echo 'Settings: CC CFLAGS LDFLAGS BUILD LUA_INCLUDE LUA_LIBRARY LUA TEST_JOBS V=1'

.PHONY: all need-lua check-now gc-now oom-now bench-now puzzler-now setup puzzler check \
        check-asan check-gc check-oom bench clean help
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
