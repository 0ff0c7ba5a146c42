# Everything a contributor runs. `make help` lists it.

BUILD := build
PYTHON := $(CURDIR)/.venv/bin/python
SOURCES = $(shell git ls-files '*.cpp' '*.h')

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' Makefile

dependencies:
	@scripts/install_dependencies.sh

configure: dependencies
	@test -f $(BUILD)/build.ninja || cmake --preset release -DPython_EXECUTABLE=$(PYTHON)

compile = NINJA_STATUS='[%f of %t, %e s] ' cmake --build $(BUILD)
# Makes `import metalloid` work in .venv, from the build folder.
link_package = echo '$(CURDIR)/$(BUILD)/python' > "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/metalloid.pth"

# Only what it runs; `make test` and `make build` go on from there.
demo: configure ## install what is missing, build, run every example kernel and check its results
	@$(compile) --target metalloid_demo metalloid_compiler
	@$(BUILD)/bin/metalloid_demo

build: configure ## build the library, the command line and the Python package into build/
	@$(compile)
	@$(link_package)

# What quick tests run, which is neither fuzzers nor benchmarks.
build-tests: configure
	@$(compile) --target metalloid_tests metalloid_cuda_stand_in metalloid_cli metalloid_python metalloid_demo metalloid_compiler
	@$(link_package)

test-dependencies: dependencies
	@scripts/install_dependencies.sh test

mac-programs: dependencies
	@scripts/install_dependencies.sh mac

all-dependencies: dependencies
	@for part in test mac lint; do scripts/install_dependencies.sh $$part || exit 1; done

# The packages to compare with are installed while the tests are compiled.
test: configure ## build, and run tests that touch everything, in minutes
	@$(MAKE) --no-print-directory -j 2 build-tests test-dependencies
	@BUILD=$(BUILD) scripts/test.sh quick

test-all: configure ## these and all others, as CI does
	@$(MAKE) --no-print-directory -j 2 build test-dependencies
	@$(MAKE) --no-print-directory mac-programs
	@BUILD=$(BUILD) scripts/test.sh all

# An interrupted run goes on where it was; OPTIONS=--again begins anew.
test-operators: build ## run all of PyTorch's OpInfo on the device mps, which leaves build/operators.md (OPTIONS="--op add", or --publish for docs/operators.md)
	@scripts/install_dependencies.sh test
	@METALLOID_CACHE_DIR=$(CURDIR)/$(BUILD)/test_cache $(PYTHON) scripts/test_operators.py $(OPTIONS)

# PROCESSOR: one that this machine can run the code of, by LLVM's name; FUNCTION: one of them.
test-vector-math: build ## compare the vector math functions with double for every float (an hour; PROCESSOR=haswell)
	@METALLOID_PROCESSOR=$(PROCESSOR) $(BUILD)/bin/metalloid_tests --gtest_also_run_disabled_tests --gtest_brief=1 \
	  --gtest_filter='*VectorMath.DISABLED_EveryFloat/$(or $(FUNCTION),*)'

bench: build ## measure launches, compile times, products, calls from Python (OPTIONS=--publish: also onto docs/performance.md)
	@$(PYTHON) scripts/bench.py --build $(BUILD) $(OPTIONS)

bench-opencl: build ## the same kernels in Metal and in OpenCL C, on PoCL and Intel's runtime (OPTIONS="--kernels silu" or --publish)
	@scripts/install_dependencies.sh opencl
	@$(PYTHON) scripts/bench.py --build $(BUILD) --against opencl $(OPTIONS)

bench-torch: build ## Metal kernels and PyTorch's CPU operators for the same work (OPTIONS="--kernels silu" or --publish)
	@scripts/install_dependencies.sh test
	@$(PYTHON) scripts/bench.py --build $(BUILD) --against torch $(OPTIONS)

bench-operators: build ## PyTorch's operators and small models on the device mps and on the CPU (OPTIONS="--kernels mm_1024,resnet" or --publish)
	@scripts/install_dependencies.sh test
	@$(PYTHON) scripts/bench.py --build $(BUILD) --against operators $(OPTIONS)

bench-large: build ## large kernels (curves, hashes, transforms, attention) and the reference engine (OPTIONS="--kernels sha3" or --publish)
	@$(PYTHON) scripts/bench.py --build $(BUILD) --against reference $(OPTIONS)

bench-machine: build ## kernels against what this machine can do and the reference engine; launch, compile times, scaling (OPTIONS=--publish)
	@$(PYTHON) scripts/bench.py --build $(BUILD) --against machine $(OPTIONS)

bench-encoding: build ## what Metal's host API adds to launches (DEVICE=cuda)
	@$(BUILD)/bin/metalloid_encoding $(DEVICE)

bench-checker: build ## checked kernels against unchecked ones and Oclgrind (OPTIONS="--kernels saxpy" or --publish)
	@scripts/install_dependencies.sh checker
	@$(PYTHON) scripts/bench.py --build $(BUILD) --against checker $(OPTIONS)

test-late: build test-dependencies ## pytest's tests where kernels are done after their call, on copies (DEVICE=trial, or trial_unified for the host's memory)
	@METALLOID_BUILD=$(CURDIR)/$(BUILD) $(PYTHON) -m pytest tests -n "$$(nproc)" --device $(or $(DEVICE),trial) \
	  --kernel-cache $(BUILD)/test_cache

soak: test-dependencies ## queues, streams, events and the device mps under ThreadSanitizer (SECONDS=120 for each device)
	@cmake --preset tsan -DPython_EXECUTABLE=$(PYTHON) -DMETALLOID_PYTHON=ON
	@cmake --build --preset tsan --target metalloid_tests metalloid_compiler metalloid_python
	@METALLOID_SOAK_SECONDS=$(or $(SECONDS),120) build-tsan/bin/metalloid_tests --gtest_filter='*QueueSoak*'
	@$(PYTHON) scripts/soak_mps.py build-tsan $(or $(SECONDS),120) cpu trial_unified trial

soak-metal: dependencies ## programs for Metal's host API under ThreadSanitizer, then AddressSanitizer (TIMES=3 each on three devices)
	@for kind in thread address; do \
	  preset=$$([ $$kind = thread ] && echo tsan || echo asan); \
	  cmake --preset $$preset -DPython_EXECUTABLE=$(PYTHON) && \
	  cmake --build --preset $$preset --target metalloid_metal metalloid_compiler && \
	  $(PYTHON) scripts/soak_metal.py build-$$preset $$kind $(or $(TIMES),3) cpu reference trial || exit 1; \
	done

fuzz: build ## feed kernels, command lines and files of all kinds to Metalloid for ten minutes (SECONDS=n)
	@BUILD=$(BUILD) scripts/fuzz.sh $(or $(SECONDS),600)

compare-engines: build ## run random kernels on the SIMD engine and on the reference engine (COUNT=10000 SEED=1 DEVICE=cpu)
	@$(BUILD)/bin/metalloid_kernel_comparison --jobs "$$(nproc)" --seed $(or $(SEED),1) --count $(or $(COUNT),10000) \
	  --seconds $(or $(SECONDS),0) --device $(or $(DEVICE),cpu)

# An interrupted run goes on where it was when it is started again with the same seeds.
compare-oracle: build ## run random kernels on every CPU device and compare with NumPy (COUNT=20000 SEED=1 DEVICES=cpu,reference)
	@METALLOID_BUILD=$(BUILD) .venv/bin/python tests/oracle/sweep.py --seed $(or $(SEED),1) --count $(or $(COUNT),20000) \
	  $(addprefix --devices ,$(DEVICES)) --seconds $(or $(SECONDS),0) --keep-in $(BUILD)/oracle

test-halide: build mac-programs ## pipelines that Halide's wheel compiles for Metal, beside its own code for the processor (OPTIONS=--publish: onto docs/mac-programs.md)
	@$(PYTHON) tests/mac_programs/halide/compare_targets.py --build $(BUILD) $(OPTIONS)

test-ggml: build mac-programs ## ggml's Metal back end beside its CPU back end: operators and tokens, for hours (OPTIONS="--each 5", or --publish)
	@METALLOID_CACHE_DIR=$(CURDIR)/$(BUILD)/test_cache $(PYTHON) tests/mac_programs/ggml/compare_backends.py --build $(BUILD) $(OPTIONS)

wheel: dependencies ## build self-contained Python wheels in dist/ (PYTHONS="python3.11 /path/to/python3.13" TORCH=torch==2.9.0)
	@TORCH=$(TORCH) scripts/wheel.sh $(PYTHONS)

wheel-test: dependencies ## install the wheels into bare Debian systems and use them there (needs root and debootstrap)
	@scripts/test_wheel.sh $(SUITES)

format: ## format the C++ sources
	@scripts/install_dependencies.sh lint
	@clang-format-22 -i $(SOURCES)

lint: dependencies ## ruff, mypy and clang-format, in seconds
	@scripts/install_dependencies.sh lint
	@scripts/lint.sh

# Minutes to a quarter of an hour; ONLY is a pattern of paths.
tidy: build ## clang-tidy over all C++ but the tests, in minutes (ONLY=src/ir/)
	@scripts/install_dependencies.sh test
	@scripts/install_dependencies.sh lint
	@METALLOID_CACHE_DIR=$(CURDIR)/$(BUILD)/test_cache $(PYTHON) scripts/clang_tidy.py --build $(BUILD) --only '$(ONLY)'

clean: ## delete build/
	rm -rf $(BUILD)
