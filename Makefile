# SPDX-License-Identifier: GPL-2.0-only
# sifive-trace: top-level makefile. "make help" lists the targets.

O ?= build
CROSS_COMPILE ?= riscv64-linux-gnu-
PREFIX ?= /usr/local
BOARD ?= fpga
# All boards except those derived from another one with "like".
BOARDS ?= fpga $(filter-out fpga,$(basename $(notdir $(shell \
	grep -L '^like ' tools/qemu/boards/*.board))))
# Boards on which "make check" runs a slower suite.
FAULT_BOARDS ?= fpga nofunnel
# Boards on which check-debug runs the debug kernel.
DEBUG_BOARDS ?= $(BOARDS)
# Board on which "make check" runs the kernel of Debian testing. check-kernels uses all boards.
KERNEL_BOARDS ?= p550

# make and kbuild do not support paths with spaces. O must not contain this checkout, because
# "clean" removes $(O).
ifneq ($(words $(CURDIR) $(O)),2)
$(error paths with a space cannot be built in: $(CURDIR), $(O))
endif
override O := $(abspath $(O))
ifneq ($(filter $(O)/%,$(CURDIR)/),)
$(error O=$(O) contains this checkout: name another directory)
endif
$(foreach list,BOARDS FAULT_BOARDS DEBUG_BOARDS KERNEL_BOARDS,$(if $(strip $($(list))),,\
	$(error $(list)= is empty: name some of $(shell tools/qemu/board list))))

# Exported variables get their values above, because ?= has no effect after an export. O= on the
# command line means something else to the kernel's makefiles, so variables from the command line
# are passed to sub-makes only through the environment or by name.
MAKEOVERRIDES :=
export O CROSS_COMPILE BOARDS FAULT_BOARDS DEBUG_BOARDS KERNEL_BOARDS DESTDIR PREFIX

.NOTPARALLEL:

ENV := $(O)/board.env
TARGET := $(O)/target
RUN = . $(ENV) && export QEMU KERNEL && tools/qemu/board
KERNEL = $(shell sed -n 's/^KERNEL=//p' $(ENV))
KSELFTEST = $(KERNEL)/kselftest

all: tools target

help:
	@echo 'Two commands do everything:'
	@echo '  make demo      install what is needed, build, boot the virtual board,'
	@echo '                 record the example program and show the result'
	@echo '  make check     all tests'
	@echo ''
	@echo 'Pieces:'
	@echo '  make board     fetch and build the virtual board, into the cache'
	@echo '  make           build everything into $$O (default build/)'
	@echo '  make driver    sifive_trace.ko for the board   [KDIR=... for another kernel]'
	@echo '  make lib       libsifive-perf for riscv64'
	@echo '  make tools     the command sifive-trace for this machine'
	@echo '  make target-tools'
	@echo '                 the command for the board: it needs only the C library'
	@echo '  make shell     a root shell on the booted board      [BOARD=$(BOARD)]'
	@echo '                 with ROOT=debian, Debian for riscv64 as its root'
	@echo '  make check-unit, check-fuzz, check-format, check-model, check-style, check-bare,'
	@echo '  make check-boards, check-hardware, check-objects, check-bench, check-faults,'
	@echo '  make check-counters, check-record, check-devicetree'
	@echo '                 one suite of the tests                [BOARDS="$(BOARDS)"]'
	@echo '  make check-debug'
	@echo '                 the kselftests on a kernel that looks for bugs'
	@echo '  make check-kernels'
	@echo '                 the module for several kernels; the kselftests on the'
	@echo '                 newest one'
	@echo '  make check-packages'
	@echo '                 the Debian packages, on a board with Debian as its root'
	@echo '  make check-debian'
	@echo '                 Debian programs on that board, instrumented and sampled'
	@echo '  make check-duckdb'
	@echo '                 rows of traces in DuckDB, which Debian testing has'
	@echo '  make check-long'
	@echo '                 all tests, longer and on all boards; takes hours'
	@echo '  make check-soak'
	@echo '                 continuous recordings, 10 minutes each; a thousand that'
	@echo '                 are killed'
	@echo '  make check-releases'
	@echo '                 the commands of README.md and install.md on fresh Debian 12'
	@echo '                 and 13; takes hours'
	@echo '  make bench     what a record costs: instructions, loads, stores, bytes'
	@echo '  make bench-decode'
	@echo '                 how fast the command reads traces of 1 MB, 100 MB, 2 GB'
	@echo '  make install   the command and the trace-reading library, for this machine'
	@echo '                                                        [DESTDIR=, PREFIX=]'
	@echo '  make install-target DESTDIR=ROOT'
	@echo '                 command, library and headers, for the traced machine;'
	@echo '                 make install with DESTDIR does the same'
	@echo '  make deb       Debian packages: the command and the trace-reading library for'
	@echo '                 this machine; command, library, headers for riscv64; the'
	@echo '                 driver for dkms'
	@echo '  make dkms      register the driver with dkms on this machine'
	@echo '  make clean     remove $$O; the cache is kept'
	@echo ''
	@echo 'Boards: $(shell tools/qemu/board list)'

# ---- requirements of tests and demo -------------------------------------

# Quick if the cache is warm. The resulting file $(ENV) contains paths that the other rules use.
board:
	@tools/qemu/setup/board.sh $(ENV)

$(ENV): $(wildcard $(addprefix tools/qemu/,init setup/* model/* patches/*))
	@tools/qemu/setup/board.sh $@

packages-%:
	@tools/qemu/setup/packages.sh $*

# ---- building -----------------------------------------------------------

driver: $(if $(KDIR),packages-build,$(ENV))
	+tools/build-module.sh driver $(or $(KDIR),$(KERNEL)/headers) $(O)/kmod -s W=1 \
		$(if $(LLVM),LLVM=$(LLVM))
	@mkdir -p $(TARGET)
	cp $(O)/kmod/sifive_trace.ko $(TARGET)/

lib: packages-build
	$(MAKE) -s -C lib O=$(O)/lib all examples
	@mkdir -p $(TARGET)
	cp $(O)/lib/dropin/fib.elf $(TARGET)/

tools: packages-command
	$(MAKE) -s -C tools O=$(O)

selftests: $(ENV) lib
	$(MAKE) -s -C selftests KSELFTEST=$(KSELFTEST) OUTPUT=$(O)/selftests \
		LIBSIFIVE_PERF=$(O)/lib/libsifive-perf.a install \
		INSTALL_PATH=$(TARGET)/selftests
	$(CROSS_COMPILE)gcc -O1 -g -Wall -Wextra -static -Iinclude \
		-o $(TARGET)/count_types selftests/count_types.c \
		$(O)/lib/libsifive-perf.a
	+tools/build-module.sh selftests/counter_thief $(KERNEL)/headers $(O)/kmod -s W=1
	cp $(O)/kmod/counter_thief.ko $(TARGET)/
	+tools/build-module.sh selftests/memory_thief $(KERNEL)/headers $(O)/kmod -s W=1
	cp $(O)/kmod/memory_thief.ko $(TARGET)/
	+tools/build-module.sh selftests/supplies $(KERNEL)/headers $(O)/kmod -s W=1
	cp $(O)/kmod/supplies.ko $(TARGET)/
	$(CROSS_COMPILE)gcc -O2 -g -Wall -Wextra -static -Iinclude/uapi \
		-o $(TARGET)/minimal Documentation/examples/minimal.c

# Build the command for the board, which has no libraries except the C library, and copy the
# programs to record with the cross compiler's loader and libraries.
target-tools: lib
	$(MAKE) -s -C tools O=$(O)/target-tools CC=$(CROSS_COMPILE)gcc DECODE=no
	@mkdir -p $(TARGET)/lib
	cp $(O)/target-tools/sifive-trace $(TARGET)/
	cp -L $(O)/lib/libsifive-perf.so $(TARGET)/
	cp -P $(O)/lib/libsifive-perf.so* $(TARGET)/lib/
	$(MAKE) -s -C selftests/record OUTPUT=$(TARGET)/record \
		RUNTIME_DIR=$(TARGET)/lib LIBSIFIVE_PERF=$(O)/lib/libsifive-perf.a

target: driver lib target-tools selftests

# ---- running ------------------------------------------------------------

# Counting instructions makes counts of cycles and instructions exact, but slows the emulator down.
# Run the program from memory, so that no record waits for a page to be read from a file.
demo: SHOW = cd $(O)/demo && $(O)/sifive-trace
demo: FIB = $(O)/lib/dropin/fib.elf trace.rtd
demo: board tools driver lib
	@echo "The example of the old library's manual, on the virtual board:"
	@$(RUN) run fpga --icount --target $(TARGET) --out $(O)/demo -- \
		'insmod /target/sifive_trace.ko && cp /target/fib.elf /tmp && \
		 echo "# taskset 2 ./fib.elf" && taskset 2 /tmp/fib.elf'
	@echo '# sifive-trace report -e fib.elf trace.rtd'
	@$(SHOW) report --no-pager -e $(FIB)
	@echo; echo '# sifive-trace replay -e fib.elf trace.rtd'
	@$(SHOW) replay -q -o $(O)/demo/calls.txt -e $(FIB)
	@head -n 16 $(O)/demo/calls.txt
	@echo "... $$(grep -vc '^#' $(O)/demo/calls.txt) lines in $(O)/demo/calls.txt"
	@$(SHOW) export -q --format html -o $(O)/demo/trace.html -e $(FIB)
	@echo 'For the browser: $(O)/demo/trace.html'
	@echo "(The emulator cannot count cache and branch events: their counts are always 0.)"

shell: board target $(if $(ROOT),packages-root)
	@$(RUN) shell $(BOARD) --target $(TARGET) --out $(O)/shell $(if $(ROOT),--root)

# ---- tests --------------------------------------------------------------

# Duration in seconds of each kselftest that races threads, with TRACE_PART=1; the longest one,
# threads_test, has a separate limit.
TRACE_SECONDS ?= 2
TRACE_STORM_SECONDS ?= 5
# Number of random programs that programs_test runs, with TRACE_PART=1.
TRACE_PROGRAMS ?= 20
# Boards run 1/TRACE_PART of the kselftests' races, random programs and repetitions.
TRACE_PART ?= 16
export TRACE_SECONDS TRACE_STORM_SECONDS TRACE_PROGRAMS TRACE_PART

CHECK := $(O)/check
SUITES := unit fuzz format model style devicetree bare boards hardware objects bench faults counters \
	record debug kernels packages debian duckdb

# Debian's file system is created once, which takes minutes.
check-packages check-debian: packages-root
check-kernels: KERNEL_BOARDS = $(BOARDS)

# Suites that the suite "record" consists of.
RECORD_SUITES := record captures calls triggers exact coverage processes exits kills live rotation oncpu turns stacks

# check-long sets LONG; "make check" omits these suites.
LONG ?=
LONG_SUITES := debug packages debian duckdb

# These are prepared by scripts in tools/qemu/setup.
NEEDS_boards := perf
NEEDS_debug := debug-kernel
NEEDS_duckdb := duckdb
NEEDS_kernels := module-trees testing-kernel
NEEDS := $(sort $(foreach s,$(filter-out $(if $(LONG),,$(LONG_SUITES)),$(SUITES)),$(NEEDS_$(s))))
SET_UP = @tools/qemu/setup/check.sh $(KERNEL)

# Number of concurrent suites: more than there are processors, because suites sometimes only wait.
# The longest suites are first in the queue.
CHECK_JOBS ?= $(shell echo $$(($$(nproc) + 1)))
QUEUE := $(if $(LONG),$(LONG_SUITES)) unit kernels board-$(firstword $(BOARDS)) fuzz \
	record-captures counters record-calls hardware record-record \
	$(addprefix record-,$(filter-out record captures calls,$(RECORD_SUITES))) \
	$(patsubst %,board-%,$(wordlist 2,99,$(BOARDS))) devicetree \
	bench style faults objects bare model format

# Build everything on all processors, after the board has been built.
built: board
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) all

# ccache reuses objects that any checkout has compiled. The tests use Debian's programs, because
# another python3, such as one from a version manager, can take a second to start.
check check-%: export PATH := /usr/lib/ccache:/usr/bin:$(PATH)
check check-%: export CCACHE_BASEDIR = $(CURDIR)
# Debug information then names the checkout that compiled an object first. Programs whose source
# lines the tests read are linked in the same step, so ccache does not keep them.
check check-%: export CCACHE_NOHASHDIR := yes

# Each board runs each kselftest on one kernel only, and only if an input has changed.
check: export TRACE_ONCE := yes
check: built
	$(SET_UP) $(NEEDS)
	@rm -rf $(CHECK) && mkdir -p $(CHECK)
	@echo "$(words $(QUEUE)) suites, $(CHECK_JOBS) at a time; their output is in $(CHECK)"
	@printf '%s\n' $(QUEUE) | xargs -P $(CHECK_JOBS) -I{} sh -c \
		'$(MAKE) --no-print-directory run-{} || \
		 echo "0 1 0" >$(CHECK)/{}-make.count'
	@selftests/summary.sh $(CHECK) unit lib fuzz format model style devicetree bare $(BOARDS) hardware objects bench \
		$(FAULT_BOARDS:%=faults-%) counters $(RECORD_SUITES) kernels $(KERNEL_BOARDS:%=testing-%) \
		$(if $(LONG),$(DEBUG_BOARDS:%=debug-%) packages debian exact-debian duckdb)

# Run the same suites longer and on all boards, which takes a night, then, if none fails, check-releases.
check-long: packages-root
	@$(MAKE) --no-print-directory check LONG=yes EXACT=long TRACE_SECONDS=30 TRACE_STORM_SECONDS=60 \
		TRACE_PROGRAMS=2500 TRACE_PART=1 FUZZ_SECONDS=1200 FAULT_BOARDS="$(BOARDS)" \
		KERNEL_BOARDS="$(BOARDS)" UNIT_TRACES=1000
	@$(MAKE) --no-print-directory check-releases CHECK=$(CHECK)/releases

# Run the commands of README.md and install.md on fresh file systems of these releases, which
# takes hours.
RELEASES ?= bookworm trixie

check-releases: packages-releases
	@rm -rf $(CHECK) && mkdir -p $(CHECK)
	@selftests/suite.sh $(CHECK) releases selftests/releases.sh $(RELEASES)
	@selftests/summary.sh $(CHECK) releases

$(SUITES:%=check-%): check-%: built
	$(SET_UP) $(NEEDS_$*)
	@rm -rf $(CHECK)/$* && mkdir -p $(CHECK)/$*
	@$(MAKE) --no-print-directory run-$* CHECK=$(CHECK)/$* || \
		echo "0 1 0" >$(CHECK)/$*/$*-make.count
	@selftests/summary.sh $(CHECK)/$*

# Make two recordings of SOAK_SECONDS of the board's time each, and KILLS recordings that are
# killed.
SOAK_SECONDS ?= 600
# Number of recordings to kill.
KILLS ?= 20
export SOAK_SECONDS KILLS

check-soak: KILLS = 1000
check-soak: built
	@rm -rf $(CHECK)/soak && mkdir -p $(CHECK)/soak
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh $(CHECK)/soak soak \
		selftests/soak.sh $(O)
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh $(CHECK)/soak kills \
		selftests/kills.sh $(O)
	@selftests/summary.sh $(CHECK)/soak soak kills

# Seconds per fuzz target, half of which each of the two fuzzers gets.
FUZZ_SECONDS ?= 2

run-fuzz:
	@selftests/suite.sh $(CHECK) fuzz $(MAKE) -s -C selftests/fuzz \
		O=$(O) FUZZ_SECONDS=$(FUZZ_SECONDS) run

bench: $(ENV) driver lib
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/bench.sh $(O)

bench-decode: packages-command
	$(MAKE) -s -C selftests/unit O=$(O)/unit BUILT=$(O) bench-decode

# Number of random traces for clock_test and jobs_test; they have their own default.
UNIT_TRACES ?=

run-unit:
	@selftests/suite.sh $(CHECK) unit $(MAKE) -s -C selftests/unit \
		KSELFTEST=$(KSELFTEST) O=$(O)/unit BUILT=$(O) \
		$(if $(UNIT_TRACES),TRACES=$(UNIT_TRACES)) run
	@selftests/suite.sh $(CHECK) lib $(MAKE) -s -C lib O=$(O)/lib check

run-format:
	@selftests/suite.sh $(CHECK) format selftests/format/run.sh $(O)

run-model:
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh $(CHECK) model \
		$(MAKE) -s -C selftests/model KSELFTEST=$(KSELFTEST) \
		O=$(O)/model run

run-style:
	@selftests/suite.sh $(CHECK) style selftests/style.sh $(KERNEL) $(O)/style $(O)

run-devicetree:
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL CACHE=$$CACHE selftests/suite.sh $(CHECK) devicetree \
		selftests/devicetree.sh $(O)

run-bare:
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh $(CHECK) bare \
		selftests/bare.sh $(O)

run-boards: $(BOARDS:%=run-board-%)

$(BOARDS:%=run-board-%): run-board-%:
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh $(CHECK) $* \
		selftests/board.sh $* $(O)

run-bench:
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh $(CHECK) bench \
		selftests/bench.sh $(O) check

# One board is enough, because the library is the same on all boards.
run-objects:
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh $(CHECK) \
		objects selftests/objects.sh $(firstword $(BOARDS)) $(O)

run-faults:
	@for b in $(FAULT_BOARDS); do \
		. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh \
			$(CHECK) faults-$$b selftests/faults.sh $$b $(O); \
	done

run-hardware:
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh \
		$(CHECK) hardware selftests/hardware.sh $(O)

run-counters:
	@. $(ENV) && QEMU=$$QEMU KERNEL=$$KERNEL selftests/suite.sh \
		$(CHECK) counters selftests/counters.sh $(O)

run-record: $(RECORD_SUITES:%=run-record-%)

$(RECORD_SUITES:%=run-record-%): run-record-%:
	@. $(ENV) && export QEMU KERNEL && selftests/suite.sh $(CHECK) $* \
		selftests/$*.sh $(O) $(if $(filter exact,$*),$(EXACT))

run-duckdb:
	@selftests/suite.sh $(CHECK) duckdb selftests/duckdb.sh $(O)

run-packages:
	@. $(ENV) && export QEMU KERNEL CACHE && selftests/suite.sh $(CHECK) packages \
		selftests/packages.sh $(O)

run-debian:
	@. $(ENV) && export QEMU KERNEL && selftests/suite.sh $(CHECK) debian \
		selftests/debian.sh $(O) && \
	selftests/suite.sh $(CHECK) exact-debian selftests/exact.sh $(O) debian

# The debug kernel is built once, which takes minutes.
run-debug:
	@. $(ENV) && export QEMU KERNEL && \
	debug=$$(tools/qemu/setup/debug-kernel.sh $$KERNEL) && \
	for b in $(DEBUG_BOARDS); do \
		selftests/suite.sh $(CHECK) debug-$$b \
			selftests/debug.sh $$b $(O) $$debug; \
	done

# Compile the module for all supported kernels, then run the kernel of Debian testing.
run-kernels:
	@. $(ENV) && export QEMU KERNEL && \
	selftests/suite.sh $(CHECK) kernels selftests/kernels.sh \
		$$CACHE/module-trees.list $(O) && \
	testing=$$(tools/qemu/setup/testing-kernel.sh $$KERNEL) && \
	for b in $(KERNEL_BOARDS); do \
		selftests/suite.sh $(CHECK) testing-$$b \
			selftests/testing.sh $$b $(O) "$$testing"; \
	done

# ---- installing ---------------------------------------------------------

# On a RISC-V machine, "install" installs everything. On other machines, DESTDIR is a target's root,
# and nothing for the build machine is installed there.
NATIVE := $(filter riscv%,$(shell uname -m))

install: $(if $(NATIVE),install-tools install-lib,$(if $(DESTDIR),install-target,install-tools))

install-tools: tools
	$(MAKE) -C tools O=$(O) install install-read

install-lib: packages-build
	$(MAKE) -C lib O=$(O)/lib install
	install -d $(DESTDIR)$(PREFIX)/include/linux
	install -m 644 include/uapi/linux/*.h $(DESTDIR)$(PREFIX)/include/linux/

install-target: install-lib
	$(MAKE) -C tools O=$(O)/target-tools CC=$(CROSS_COMPILE)gcc DECODE=no install

VERSION := $(shell cat VERSION)
DKMS_SRC := $(DESTDIR)/usr/src/sifive-trace-$(VERSION)

# If dkms cannot add the module, install no sources.
dkms-can-add:
	@[ -n "$(NATIVE)" ] || { echo "make dkms: this machine is not a RISC-V machine:" \
		"give the root of the traced machine, DESTDIR=ROOT" >&2; exit 1; }
	@command -v dkms >/dev/null || { echo "make dkms: no dkms: install the package" \
		"dkms, or install the sources under another root, DESTDIR=ROOT" >&2; exit 1; }
	@[ -z "$$(dkms status sifive-trace/$(VERSION))" ] || { echo "make dkms:" \
		"sifive-trace/$(VERSION) is already registered: dkms remove" \
		"sifive-trace/$(VERSION) --all" >&2; exit 1; }

dkms: $(if $(DESTDIR),,dkms-can-add)
	install -d $(DKMS_SRC)/include/uapi/linux
	cp VERSION driver/Kbuild driver/Makefile $(DKMS_SRC)/
	cd driver && cp --parents */*.c */*.h $(DKMS_SRC)/
	sed 's/@VERSION@/$(VERSION)/' driver/dkms.conf.in >$(DKMS_SRC)/dkms.conf
	cp include/uapi/linux/*.h $(DKMS_SRC)/include/uapi/linux/
	[ -n "$(DESTDIR)" ] || dkms add sifive-trace/$(VERSION)

# A RISC-V machine builds only native packages. Other machines also cross-build packages for
# RISC-V, with a command that does not read traces and so needs no target libraries; -d is needed
# because not every release has crossbuild-essential-riscv64.
DEB := $(O)/deb
comma := ,
# deb_build NAME,OPTIONS: build in a separate copy of the tree; the packages appear next to it.
define deb_build
	rsync -a --exclude=/.git --exclude=/build $(O:$(CURDIR)/%=--exclude=/%) ./ $(DEB)/$1/
	cd $(DEB)/$1 && dpkg-buildpackage --no-sign --sanitize-env $2

endef

deb: packages-build packages-deb
	@rm -rf $(DEB) && mkdir -p $(DEB)
	$(call deb_build,native,-b)
	$(if $(NATIVE),,$(call deb_build,riscv64,-B -d -a riscv64 -Pcross$(comma)pkg.sifive-trace.target))
	@ls $(DEB)/*.deb

clean:
	rm -rf "$(O)"

.PHONY: all built help board driver lib tools selftests target target-tools \
	demo shell check check-long check-soak check-releases $(SUITES:%=check-%) $(SUITES:%=run-%) $(BOARDS:%=run-board-%) \
	install install-tools install-lib install-target deb dkms dkms-can-add clean bench bench-decode
