# aarch64.mk - the core's suites on 64-bit ARM: compiled by Debian's cross compiler, and run under
# qemu's emulation of one program. The Makefile includes it. Lua and zlib are those of
# playground.mk, Debian's sources.

ARM     := $(BUILD)/aarch64
ARM_CC  ?= aarch64-linux-gnu-gcc
ARM_CXX ?= aarch64-linux-gnu-g++
# Where qemu finds the loader and the C library.
ARM_RUN ?= qemu-aarch64 -L /usr/aarch64-linux-gnu

# $(1): the archive; $(2): the source; $(3): its files; $(4): flags
define arm_library
$(ARM)/lib$(1).a: $(2)/.done
	$$(call say,lib,$$@)
	@mkdir -p $(ARM)/$(1)
	$$(Q)cd $(ARM)/$(1) && $(ARM_CC) -O2 -fPIC $(4) -c $$(addprefix $(abspath $(2))/,$(3))
	$$(Q)aarch64-linux-gnu-ar rcs $$@ $(ARM)/$(1)/*.o
endef
$(eval $(call arm_library,lua,$(LUA_SOURCE),$(LUA_FILES:%=src/%.c),-DLUA_USE_LINUX))
$(eval $(call arm_library,z,$(Z_SOURCE),$(Z_FILES:%=%.c),-DHAVE_UNISTD_H))

# In place of the program: with this, tests that start it again start it in qemu.
$(ARM)/run: | $(ARM)/libz.a
	@printf '#!/bin/sh\nexec %s -0 "$$0" %s "$$@"\n' '$(ARM_RUN)' '$(abspath $(ARM))/streamlab' >$@
	@chmod +x $@

# A cross compiler does not know what machine "native" would be.
$(ARM)/cxx: | $(ARM)/libz.a
	@{ echo '#!/bin/sh'; echo 'for word; do shift'; \
	    echo 'case $$word in -march=native) ;; *) set -- "$$@" "$$word" ;; esac; done'; \
	    echo 'exec $(ARM_CXX) "$$@"'; } >$@
	@chmod +x $@

# Left out: what starts itself without that, sets limits of memory, which qemu passes over, is about
# the kernels of x86, or takes too long in qemu; and the lists of wrong and right kernels, since ARM
# divides by zero without a fault and clang is no cross compiler here.
ARM_WITHOUT := $(addprefix %/,core/t-20-plugin core/t-27-host-limits sim/t-14-blas \
                 emulate/t-40-wrong emulate/t-41-right emulate/t-42-clang-wrong \
                 emulate/t-43-clang-right timeline/t-70-million) \
               tests/lua/25-wrong-kernels.t.lua tests/lua/59-random-kernels.t.lua \
               tests/both/wrong-kernels.t.lua

ARM_MAKE   = CPPFLAGS='-I$(abspath $(Z_SOURCE))' $(MAKE) --no-print-directory BUILD=$(ARM) \
             CC='$(ARM_CC)' NVCC= LIBSECCOMP=0 LUA_INCLUDE=$(abspath $(LUA_SOURCE))/src \
             LUA_LIBRARY=$(abspath $(ARM))/liblua.a PROGRAM_ZLIB=$(ARM)/libz.a ZLIB=$(ARM)/libz.a \
             FIGURES=$(ARM)/bindings/figures_none.o

## make check-aarch64  the core, the simulator and the API on 64-bit ARM, in qemu
check-aarch64:
	$(Q)$(UNLESS_DRY_RUN)if sh scripts/setup.sh --aarch64; then \
	    $(MAKE) --no-print-directory $(addprefix $(ARM)/,liblua.a libz.a run cxx) && \
	    $(ARM_MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS)) arm-tests; \
	else echo 'make check-aarch64: skipped: no cross compiler or qemu can be installed'; fi

# In the make of the other machine.
arm-tests: $(BUILD)/streamlab $(CORE_TESTS) $(SIM_TESTS)
	$(Q)STREAMLAB=$(abspath $(BUILD)/run) STREAMLAB_TEST_UNDER='$(ARM_RUN)' \
	    STREAMLAB_CXX=$(abspath $(BUILD)/cxx) STREAMLAB_TEST_TIMEOUT=10 prove -j$(TEST_JOBS) \
	    --exec tests/run $(filter-out $(ARM_WITHOUT),$(CORE_TESTS) $(SIM_TESTS) $(BOTH_TESTS) \
	    $(LUA_TESTS))

.PHONY: check-aarch64 arm-tests
