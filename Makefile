# SPDX-License-Identifier: Apache-2.0

# What building, testing and the demo need besides a Swift 6.3 toolchain, as Debian and Ubuntu name it.
BUILD_PACKAGES = git libc6-dev
TEST_PACKAGES = $(BUILD_PACKAGES) util-linux

# Warnings are errors in this project's own targets.
export ACCESSORY_BRIDGE_STRICT = 1

SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Installs what is missing of the packages in $(1), and says so first.
define install
	@missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -z "$$missing" ]; then echo "Nothing to install: $(1) are there."; \
	else echo "Installing: $(SUDO) apt-get install --no-install-recommends" $$missing; \
	$(SUDO) apt-get update -q && $(SUDO) apt-get install -y -q --no-install-recommends $$missing; fi
	@command -v swift >/dev/null || { echo "There is no swift here. Install Swift 6.3: https://www.swift.org/install/linux/"; exit 1; }
endef

.PHONY: help build static test lint format bench demo clean

help: ## What can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */  make \1\t/' | expand -t 20

build: ## A debug build
	$(call install,$(BUILD_PACKAGES))
	swift build

static: ## bridge-cli as one file that needs no Swift: .build/release/bridge-cli
	$(call install,$(BUILD_PACKAGES))
	swift build -c release --static-swift-stdlib --product bridge-cli

demo: ## Everything at work on a pretended accessory, in a minute
	$(call install,$(BUILD_PACKAGES))
	swift build --product bridge-cli
	"$$(swift build --show-bin-path)/bridge-cli" demo

test: lint ## Installs what the tests need and runs them all
	$(call install,$(TEST_PACKAGES))
	swift build --build-tests
	swift test --skip-build --skip '^AccessoryIOTests.ProcessWide'
	# These count the process's descriptors and threads and make its system calls fail: they are alone in theirs.
	swift test --skip-build --filter '^AccessoryIOTests.ProcessWide'

lint: ## Checks the form of the sources
	swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks

format: ## Brings the sources into form
	swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks

bench: ## Measures against plain C loops in the same run
	$(call install,$(BUILD_PACKAGES))
	swift build -c release --static-swift-stdlib --product bridge-cli
	cd Benchmarks && swift run -c release bridge-bench

clean: ## Removes what was built
	rm -rf .build Benchmarks/.build
