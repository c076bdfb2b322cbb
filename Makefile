# SPDX-License-Identifier: Apache-2.0

# What building, testing and the demo need besides a Swift 6.3 toolchain, as Debian and Ubuntu name it.
BUILD_PACKAGES = git libc6-dev pkg-config libusb-1.0-0-dev libudev-dev libyaml-dev libsystemd-dev libmosquitto-dev
TEST_PACKAGES = $(BUILD_PACKAGES) util-linux umockdev libumockdev-dev systemd tmux jq valgrind binutils mandoc nut-client mosquitto mosquitto-clients openssl dpkg-dev
BENCH_PACKAGES = $(BUILD_PACKAGES) socat ser2net

# What the lab needs: a guest under QEMU whose kernel has USB, and programs to look at it with.
LAB_PACKAGES = $(TEST_PACKAGES) qemu-system-x86 busybox-static nut-server binutils kmod cpio xz-utils udev systemd usbutils picocom

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

# What makes the Debian packages, and judges them; what boots a bare Debian in a folder.
DEB_PACKAGES = $(BUILD_PACKAGES) dpkg-dev binutils xz-utils
DEB_TEST_PACKAGES = $(DEB_PACKAGES) lintian debootstrap util-linux

# What is installed, and where: make install PREFIX=/usr, DESTDIR=… for packages.
PREFIX ?= /usr/local
BRIDGE_CLI ?= .build/release/bridge-cli
MANUAL ?= .build/man

.PHONY: help install uninstall deb deb-test deb-source deb-source-test docs build static static-arm64 static-debian test test-arm64 start-up lab lab-quick lab-bluetooth lab-arm64 peers broker fleet-scale test-tsan test-asan fuzz soak lint format api wireshark metrics browser web-pictures homeassistant recordings pictures bench demo completions man clean

help: ## What can be made
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## */  make \1\t/' | expand -t 20

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

# LAB=no leaves out the lab at the end of the tests (`make lab-quick`), which needs QEMU and a kernel package from Debian's
# mirror. Guests exist for amd64 only.
LAB := $(if $(filter x86_64,$(shell uname -m)),yes,no)
IN_LAB = $(filter-out no,$(LAB))

test: export ACCESSORY_BRIDGE_LAB = $(if $(IN_LAB),1)
# Most tests wait most of the time: the release is built beside them.
test: export BESIDE = $(MAKE) static
test: lint ## Installs what the tests need and runs them all; without the lab's with LAB=no
	$(call install,$(if $(IN_LAB),$(LAB_PACKAGES),$(TEST_PACKAGES)))
	Tests/Clients/Package/check
	$(call run-tests,)
	$(MAKE) start-up
	$(if $(IN_LAB),$(MAKE) lab-quick,@echo "The lab's tests, against a stock kernel's USB, udev and systemd, are not among these: make lab")

# Built as users have it, which the optimiser has refused before where a debug build was fine.
start-up: static ## What a start of the release build costs, in instructions, against Benchmarks/StartUp/counts
	$(call install,valgrind binutils)
	Benchmarks/StartUp/check

# How often accessories come and go there, and for how long.
export LAB_CYCLES LAB_SECONDS LAB_PART
lab: export ACCESSORY_BRIDGE_LAB = 1
lab: static ## The tests against a stock kernel's USB, udev and systemd, in guests under QEMU
	$(call install,$(LAB_PACKAGES))
	swift build --build-tests
	$(if $(filter quick,$(LAB_PART)),,for revision in 1 2; do DEB_REVISION=$$revision DEB_COMPRESSION=none packaging/build .build/lab/packages/$$revision; done)
	LAB_BRIDGE_CLI="$(CURDIR)/.build/release/bridge-cli" Tests/Lab/all

lab-quick: ## Most of the lab's tests, with few repetitions, in at most four minutes
	$(MAKE) lab LAB_CYCLES=8 LAB_PART=quick

# Emulated in software, and so slow that it isn't part of `make test`.
lab-arm64: static-arm64 ## The arm64 package in an arm64 guest with Debian 13: installed, plugged in, battery, upgraded, purged; LAB_PAGES=16k
	packaging/arm64/prepare --guest
	for revision in 1 2; do packaging/arm64/in env ARCH=arm64 PROGRAMS=.build/arm64/build/release \
	  DEB_REVISION=$$revision DEB_COMPRESSION=none packaging/build .build/arm64/packages/$$revision || exit; done
	LAB_ARCH=arm64 LAB_PASS=LAB_PAGES LAB_LOG=.build/arm64/guest/log$(LAB_PAGES:%=-%) LAB_TIMEOUT=$${LAB_TIMEOUT:-1200} packaging/arm64/in Tests/Lab/run --systemd \
	  bash "$(CURDIR)/Tests/Lab/guest/arm64" "$(CURDIR)"/.build/arm64/packages/[12]/accessory-bridge_*_arm64.deb

test-arm64: ## The tests of units, service and commands as arm64, in an emulator
	packaging/arm64/test

BLUETOOTH_PACKAGES = $(LAB_PACKAGES) dbus python3-venv gcc

lab-bluetooth: ## A Bluetooth accessory without a radio, in a guest with bluetoothd
	$(call install,$(BLUETOOTH_PACKAGES))
	swift build --product bridge-cli
	swift build --product BatteryPeripheral
	Tests/Lab/Bluetooth/run
	Tests/Lab/Bluetooth/run Tests/Lab/Bluetooth/serving

# Builds the tests with these options, and runs them with those of $(2): Tests/Tools/run-all.
define run-tests
	swift build --build-tests $(1)
	Tests/Tools/run-all "$$(swift build --show-bin-path $(1))" $(2)
endef

test-tsan: ## The tests under the thread sanitizer
	$(call install,$(TEST_PACKAGES))
	$(call run-tests,--sanitize=thread --scratch-path .build-tsan -Xswiftc -DTHREAD_SANITIZER,--no-parallel)

# What a program still has when it calls exit is no leak: tasks that wait, the I/O thread's buffers.
test-asan: export ASAN_OPTIONS = detect_leaks=0
test-asan: ## The tests under the address sanitizer
	$(call install,$(TEST_PACKAGES))
	$(call run-tests,--sanitize=address --scratch-path .build-asan,--no-parallel)

# What it installs is from Debian and PyPI, so it isn't part of `make test`.
peers: static ## Other programs on a bridge: pyserial's tests, picocom, tio, socat, ser2net, gensiot, C-Kermit, esptool
	Tests/Peers/install
	Tests/Peers/run

broker: ## The tests of bridge-fleet with mosquitto alone: restarts, a network that is cut, TLS, two gateways, commands
	$(call install,$(TEST_PACKAGES))
	swift build --build-tests
	Tests/Tools/run-suite 3 --filter '^AccessoryFleetTests\.(WithBroker|HostilePacketTests)'

# It takes five minutes, and wants a machine with nothing else to do.
fleet-scale: static ## A thousand gateways on one mosquitto here, and ten whole machines: latency, processor time, memory
	$(call install,mosquitto mosquitto-clients jq)
	swift build $(RELEASE) --product fleet-scale
	Benchmarks/FleetScale/run .build/release

FUZZ_SECONDS = 60

fuzz: ## Every decoder, the service as a whole, and bridge-fleet, against what is made up to break it, FUZZ_SECONDS each
	$(call install,$(BUILD_PACKAGES))
	Tests/Fuzz/run $(FUZZ_SECONDS)
	ACCESSORY_BRIDGE_FUZZ_SECONDS=$(FUZZ_SECONDS) swift test \
	  --filter '^(BridgeServiceTests.HostileWorldTests|AccessoryFleetTests.HostilePacketTests/randomPacketsCrashNoCommand)'

SOAK_SECONDS = 600

soak: ## The service under floods of events, then with six kinds of accessories on bad lines, for SOAK_SECONDS each; then bridge
	$(call install,$(TEST_PACKAGES))
	ACCESSORY_BRIDGE_SOAK_SECONDS=$(SOAK_SECONDS) swift test --filter '^CommandTests.SoakTests'
	ACCESSORY_BRIDGE_SOAK_SECONDS=$(SOAK_SECONDS) swift test --skip-build --filter '^CommandTests.PowerSoakTests'
	ACCESSORY_BRIDGE_SHARING_SOAK=1 swift test --skip-build --filter '^CommandTests.SharingSoakTests'

wireshark: ## What Wireshark shows of captures by `trace --pcapng`, with wireshark/af1.lua
	$(call install,tshark)
	swift build --product bridge-cli
	Tests/Peers/Wireshark/check

# What it installs is from PyPI and large, so it isn't part of `make test`, which compares the same messages with checked ones.
homeassistant: ## The messages of Home Assistant's discovery, by Home Assistant's own code
	Tests/Peers/HomeAssistant/run

metrics: ## What Prometheus' promtool and its Python client think of the metrics of simulated accessories
	$(call install,prometheus python3-prometheus-client)
	swift build --product bridge-cli
	Tests/Peers/Metrics/check

browser: ## The page of bridge-cli web in a real browser: follows accessories, and what axe says of it
	$(call install,chromium chromium-driver python3-selenium python3-venv mosquitto)
	swift build --product bridge-cli
	swift build --product bridge-fleet
	Tests/Peers/Browser/run "$$(swift build --show-bin-path)" --many 100 --open $(or $(OPEN),60)

web-pictures: ## The pictures of that page: Documentation/pictures/web*.png
	$(call install,chromium chromium-driver python3-selenium python3-venv fonts-noto-core mosquitto)
	swift build --product bridge-cli
	swift build --product bridge-fleet
	Tests/Peers/Browser/run "$$(swift build --show-bin-path)" --pictures Documentation/pictures

recordings: ## Makes the recorded conversations of Tests/Data/Recordings again, with foreign programs
	$(call install,python3-venv socat picocom mbpoll nut-server)
	swift build --product bridge-cli
	[ -d .build/recordings ] || python3 -m venv .build/recordings
	.build/recordings/bin/pip install -q -r Tests/Data/Recordings/requirements.txt
	PYTHON="$(CURDIR)/.build/recordings/bin/python" Tests/Data/Recordings/make

pictures: ## The pictures of the documentation, of the program itself: Documentation/pictures
	$(call install,tmux python3)
	swift build --product bridge-cli
	Documentation/pictures/make "$$(swift build --show-bin-path)"

lint: ## Checks the form of the sources, which part imports which, what is public (Documentation/architecture.md), and the links of all pages
	$(call install,jq)
	Tests/Checks/Rooms/check
	Tests/Checks/Rooms/test
	Tests/Checks/House/draw
	Tests/Checks/API/check
	Tests/Checks/API/test
	Tests/Checks/Apple/check
	Tests/Checks/Apple/test
	Tests/Checks/Links/check
	Tests/Checks/Links/test
	Tests/Checks/Contributing/check
	Tests/Checks/Contributing/test
	swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks Examples

format: ## Brings the sources into form
	swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks Examples

api: ## Renews the lists of what the libraries declare public, after a change of it that is meant: Documentation/api
	$(call install,jq)
	Tests/Checks/API/check --renew

bench: ## Measures against plain C loops, socat and SwiftNIO in the same run
	$(call install,$(BENCH_PACKAGES))
	swift build $(RELEASE) --product bridge-cli
	cd Benchmarks && swift run $(OPTIMIZED) bridge-bench

completions: ## Completions for bash, zsh and fish: .build/completions
	$(call install,$(BUILD_PACKAGES))
	swift build --product bridge-cli
	swift build --product bridge-fleet
	mkdir -p .build/completions
	folder="$$(swift build --show-bin-path)"; for name in bridge-cli bridge-fleet; do \
	  "$$folder/$$name" --generate-completion-script bash > .build/completions/$$name.bash; \
	  "$$folder/$$name" --generate-completion-script zsh > .build/completions/_$$name; \
	  "$$folder/$$name" --generate-completion-script fish > .build/completions/$$name.fish; done

# By the release that `make static` has built, if it has, or else by a debug build.
man: ## Manual pages: .build/man
	@[ -x "$(BRIDGE_CLI)" ] || $(MAKE) build
	rm -rf .build/man
	program="$(BRIDGE_CLI)"; [ -x "$$program" ] || program="$$(swift build --show-bin-path)/bridge-cli"; \
	"$$program" --generate-manual .build/man
	program="$$(dirname "$(BRIDGE_CLI)")/bridge-fleet"; [ -x "$$program" ] || program="$$(swift build --show-bin-path)/bridge-fleet"; \
	[ ! -x "$$program" ] || "$$program" --generate-manual .build/man

install: ## Installs bridge-cli, its service, udev rules, manual and completions: PREFIX, DESTDIR
	@[ -x "$(BRIDGE_CLI)" ] || $(MAKE) static
	@[ -e "$(MANUAL)/bridge-cli-list.1" ] || $(MAKE) man
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" BRIDGE_CLI="$(BRIDGE_CLI)" MANUAL="$(MANUAL)" systemd/setup install

uninstall: ## Takes away what install has installed, but for your own profiles
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" systemd/setup uninstall

# For another architecture than this machine's, here arm64 on amd64: compiled by Debian's Swift with Debian 13's libraries, which it gets once.
CROSS = $(filter-out $(shell dpkg --print-architecture 2>/dev/null),$(ARCH))

# Addresses that the loader mends are packed, which needs glibc 2.36. lld warns of each file of Debian's runtime that it doesn't say
# whose addresses are taken.
PACKED = -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-warnings
static-arm64: SMALL += $(PACKED)
static-arm64: ## The same for arm64 (Debian 13, Raspberry Pi OS), on an amd64 Debian without Swift: .build/arm64/build/release
	packaging/arm64/swift-build $(RELEASE) --product bridge-cli

deb: $(if $(CROSS),static-$(CROSS),static) ## Debian packages of both programs, with debug symbols apart: .build/deb; ARCH=arm64 for these
	$(if $(CROSS),,$(call install,$(DEB_PACKAGES)))
	$(if $(CROSS),packaging/$(CROSS)/in env ARCH=$(CROSS) PROGRAMS=.build/$(CROSS)/build/release) packaging/build

# What it fetches is Debian's base system, 100 MB, so it isn't part of `make test`.
deb-test: deb ## lintian's opinion of the packages; installs, upgrades and purges them in a bare Debian in a folder; ARCH=arm64: lintian alone
	$(if $(CROSS),,$(call install,$(DEB_TEST_PACKAGES)))
	$(if $(CROSS),packaging/$(CROSS)/in )packaging/lint $(ARCH)
	$(if $(CROSS),@echo "Installed they are by make lab-$(CROSS).",packaging/test)

# What is built in there, by dpkg-buildpackage, is by Debian's own Swift.
static-debian: SMALL += $(PACKED) -Xswiftc -use-ld=lld
static-debian:
	swift build $(RELEASE) --product bridge-cli

deb-source: ## The Debian source package, with the Swift packages that it needs, for builds without a network: .build/source
	$(call install,git dpkg-dev xz-utils)
	packaging/source

# What it fetches is Debian unstable and its Swift, 0.9 GB, and it compiles all. So it isn't part of `make test`.
deb-source-test: deb-source ## Builds the Debian source package in a bare Debian unstable in a folder, without a network; asks its lintian
	$(call install,debootstrap util-linux)
	packaging/test-source

docs: ## A site of these pages and of the libraries' reference, by DocC: .build/docs
	$(call install,$(BUILD_PACKAGES) python3 jq)
	swift build
	Documentation/make-site

clean: ## Removes what was built
	rm -rf .build .build-tsan .build-asan Benchmarks/.build
