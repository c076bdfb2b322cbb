# SPDX-License-Identifier: Apache-2.0

# What building, testing and the demo need besides a Swift 6.3 toolchain, as Debian and Ubuntu name it.
BUILD_PACKAGES = git libc6-dev pkg-config libusb-1.0-0-dev libudev-dev libyaml-dev libsystemd-dev libmosquitto-dev
TEST_PACKAGES = $(BUILD_PACKAGES) libsodium23 util-linux umockdev libumockdev-dev systemd tmux jq binutils mandoc nut-client mosquitto mosquitto-clients openssl dpkg-dev

# What the lab needs: a guest under QEMU whose kernel has USB, and programs to look at it with.
LAB_PACKAGES = $(TEST_PACKAGES) qemu-system-x86 busybox-static nut-server sudo binutils kmod cpio xz-utils udev systemd usbutils picocom

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

# What is installed, and where: make install PREFIX=/usr, DESTDIR=… for packages.
PREFIX ?= /usr/local
BRIDGE_CLI ?= .build/release/bridge-cli
MANUAL ?= .build/man

.PHONY: help help-all build static demo test test-all lint format api install clean

help: #+ The targets that you need first
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
	@echo "  make help-all     All targets; the README.md of Tests, Benchmarks, packaging and Documentation says more of them"

help-all: #+ All targets
	@for file in $(MAKEFILE_LIST); do echo "$$file"; sed -nE 's/^([a-z0-9-]+):.*#[#+] (.*)/  make \1\t\2/p' $$file | expand -t 24; done

build: ## A debug build
	$(call install,$(BUILD_PACKAGES))
	swift build

# With Swift's libraries in them; none is looked for beside the program. Without the marks of the C modules' cached files, which
# have the times of the clone in them: two builds at the same path are the same bytes. Optimized across modules: a family's exchange and
# the general link that runs it are compiled for each other, which makes a request a tenth to a third faster.
OPTIMIZED = -c release -Xswiftc -cross-module-optimization
RELEASE = $(OPTIMIZED) --static-swift-stdlib --disable-local-rpath -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs $(SMALL) $(SWIFT_BUILD_OPTIONS)
# Of functions that are the same bytes, one is kept, unless its address is taken. Swift's functions pass no C++ exceptions, so what unwinds them
# is for debuggers alone, and goes to the debug symbols.
SMALL = -Xlinker --version-script=$(CURDIR)/packaging/exports.map -Xlinker --icf=safe -Xswiftc -Xllvm -Xswiftc -force-attribute=nounwind
static static-arm64 static-debian bench: export ACCESSORY_BRIDGE_SMALL = 1

static: ## bridge-cli as one file that needs no Swift, and bridge-fleet, a link to it: .build/release
	$(call install,$(BUILD_PACKAGES))
	swift build $(RELEASE) --product bridge-cli
	ln -sf bridge-cli .build/release/bridge-fleet

demo: ## The main features on a simulated accessory, in a minute
	$(call install,$(BUILD_PACKAGES))
	swift build --product bridge-cli
	"$$(swift build --show-bin-path)/bridge-cli" demo

# LAB=no leaves out the lab (`make lab-quick`), which needs QEMU and a kernel package from Debian's mirror. Guests exist for amd64 only.
LAB := $(if $(filter x86_64,$(shell uname -m)),yes,no)
IN_LAB = $(filter-out no,$(LAB))

# Builds the tests with these options, and runs them with those of $(2): Tests/Tools/run-all.
define run-tests
	swift build --build-tests $(1)
	Tests/Tools/run-all "$$(swift build --show-bin-path $(1))" $(2)
endef

# The lab's tests are built, too: without them, with another manifest, everything would be built again for the lab.
test test-all: export ACCESSORY_BRIDGE_LAB = $(if $(IN_LAB),1)
test: lint ## Everything that shows that a change is right: lint, and all tests that need no guest
	$(call install,$(TEST_PACKAGES))
	$(call run-tests,)

# `make test test-all` runs the tests once.
test-all: test ## The same, then the release build, the cost of a start, an app that uses the package, the lab; LAB=no without guests
	$(MAKE) start-up
	Tests/Clients/Package/check
	$(if $(IN_LAB),$(MAKE) lab-quick,@echo "The lab's tests, against a stock kernel's USB, udev and systemd, are not among these: make lab")

lint: ## Checks the form of the sources, which part imports which, what is public (Documentation/architecture.md), and the links of all pages
	$(call install,jq)
	Tests/Checks/Rooms/check
	Tests/Checks/Rooms/test
	Tests/Checks/House/draw
	Tests/Checks/Descriptions/list
	Tests/Checks/API/check
	Tests/Checks/API/test
	Tests/Checks/Apple/check
	Tests/Checks/Apple/test
	Tests/Checks/Links/check
	Tests/Checks/Links/test
	Tests/Checks/Contributing/check
	Tests/Checks/Contributing/test
	Tests/Checks/Changes/check
	Tests/Checks/Changes/test
	swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks Examples

format: ## Brings the sources into form, and lists the descriptions that come with the package
	Tests/Checks/Descriptions/list --renew
	swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks Examples

api: ## Renews the lists of what the libraries declare public, after a change of it that is meant: Documentation/api
	$(call install,jq)
	Tests/Checks/API/check --renew

install: ## Installs bridge-cli, its service, udev rules, manual and completions: PREFIX, DESTDIR
	@[ -x "$(BRIDGE_CLI)" ] || $(MAKE) static
	@[ -e "$(MANUAL)/bridge-cli-list.1" ] || $(MAKE) man
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" BRIDGE_CLI="$(BRIDGE_CLI)" MANUAL="$(MANUAL)" systemd/setup install

clean: #+ Removes what was built
	rm -rf .build .build-tsan .build-asan Benchmarks/.build

# All other targets stand beside their tools. `## ` begins what `make help` prints of a target, `#+ ` what only `make help-all` does.
include Tests/targets.mk Benchmarks/targets.mk packaging/targets.mk Documentation/targets.mk
