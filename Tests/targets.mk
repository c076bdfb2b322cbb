# SPDX-License-Identifier: Apache-2.0

.PHONY: wire lab lab-quick lab-bluetooth lab-arm64 test-arm64 test-tsan test-asan peers broker fuzz soak wireshark homeassistant metrics browser recordings

# What is made from Swift's types and from the vocabulary is tested in the same places. The interface is built into the programs, so the
# goldens come last.
wire: export ACCESSORY_BRIDGE_LAB = $(if $(IN_LAB),1)
wire: export ACCESSORY_BRIDGE_GOLDENS = renew
wire: #+ Writes what is made from Swift: the fields of the interface and of the schemas, tables of pages, snapshots, goldens
	$(call install,$(BUILD_PACKAGES))
	swift build --build-tests
	swift test --skip-build --no-parallel --filter '^(AccessoryControlTests.WireTests|AccessoryDescriptionsTests.SchemaTests)'
	swift test --skip-build --no-parallel --filter '^AccessoryFleetTests.(DocumentTests/theFilesAreWhatIsPublished|DiscoveryTests)'
	swift build --build-tests
	swift test --skip-build --filter '^CommandTests.GoldenTests'
	Tests/Tools/goldens forms

# How often accessories come and go there, and for how long.
export LAB_CYCLES LAB_SECONDS LAB_PART
lab: export ACCESSORY_BRIDGE_LAB = 1
lab: static #+ The tests against a stock kernel's USB, udev and systemd, in guests under QEMU
	$(call install,$(LAB_PACKAGES))
	swift build --build-tests
	$(if $(filter quick,$(LAB_PART)),,for revision in 1 2; do DEB_REVISION=$$revision DEB_COMPRESSION=none packaging/build .build/lab/packages/$$revision; done)
	LAB_BRIDGE_CLI="$(CURDIR)/.build/release/bridge-cli" Tests/Lab/all

lab-quick: #+ Most of the lab's tests, with few repetitions, in at most four minutes
	$(MAKE) lab LAB_CYCLES=8 LAB_PART=quick

BLUETOOTH_PACKAGES = $(LAB_PACKAGES) dbus python3-venv gcc

lab-bluetooth: #+ A Bluetooth accessory without a radio, in a guest with bluetoothd
	$(call install,$(BLUETOOTH_PACKAGES))
	swift build --product bridge-cli
	swift build --product BatteryPeripheral
	Tests/Lab/Bluetooth/run
	Tests/Lab/Bluetooth/run Tests/Lab/Bluetooth/serving

# Emulated in software, and so slow that it isn't part of `make test`.
lab-arm64: static-arm64 #+ The arm64 package in an arm64 guest with Debian 13: installed, plugged in, battery, upgraded, purged; LAB_PAGES=16k
	packaging/arm64/prepare --guest
	for revision in 1 2; do packaging/arm64/in env ARCH=arm64 PROGRAMS=.build/arm64/build/release \
	  DEB_REVISION=$$revision DEB_COMPRESSION=none packaging/build .build/arm64/packages/$$revision || exit; done
	LAB_ARCH=arm64 LAB_PASS=LAB_PAGES LAB_LOG=.build/arm64/guest/log$(LAB_PAGES:%=-%) LAB_TIMEOUT=$${LAB_TIMEOUT:-1200} packaging/arm64/in Tests/Lab/run --systemd \
	  bash "$(CURDIR)/Tests/Lab/guest/arm64" "$(CURDIR)"/.build/arm64/packages/[12]/accessory-bridge_*_arm64.deb

test-arm64: #+ The tests of units, service and commands as arm64, in an emulator
	packaging/arm64/test

# A console that is ended by SIGSEGV puts its terminal back itself: the sanitizers' own handlers would come first.
test-tsan: export TSAN_OPTIONS = handle_segv=0
test-tsan: #+ The tests under the thread sanitizer
	$(call install,$(TEST_PACKAGES))
	$(call run-tests,--sanitize=thread --scratch-path .build-tsan -Xswiftc -DTHREAD_SANITIZER,--no-parallel)

# What a program still has when it calls exit is no leak: tasks that wait, the I/O thread's buffers.
test-asan: export ASAN_OPTIONS = detect_leaks=0:handle_segv=0
test-asan: #+ The tests under the address sanitizer
	$(call install,$(TEST_PACKAGES))
	$(call run-tests,--sanitize=address --scratch-path .build-asan,--no-parallel)

# What it installs is from Debian and PyPI, so it isn't part of `make test`.
peers: static #+ Other programs on a bridge: pyserial's tests, picocom, tio, socat, ser2net, gensiot, C-Kermit, esptool
	Tests/Peers/install
	Tests/Peers/run

broker: #+ The tests of bridge-fleet with mosquitto alone: restarts, a network that is cut, TLS, two gateways, commands
	$(call install,$(TEST_PACKAGES))
	swift build --build-tests
	Tests/Tools/run-suite 3 --filter '^AccessoryFleetTests\.(WithBroker|HostilePacketTests)'

FUZZ_SECONDS = 60

fuzz: #+ Every decoder, the service as a whole, and bridge-fleet, against what is made up to break it, FUZZ_SECONDS each
	$(call install,$(BUILD_PACKAGES))
	Tests/Fuzz/run $(FUZZ_SECONDS)
	ACCESSORY_BRIDGE_FUZZ_SECONDS=$(FUZZ_SECONDS) swift test \
	  --filter '^(BridgeServiceTests.HostileWorldTests|AccessoryFleetTests.HostilePacketTests/randomPacketsCrashNoCommand)'

SOAK_SECONDS = 600

soak: #+ The service under floods of events, then with six kinds of accessories on bad lines, for SOAK_SECONDS each; then bridge
	$(call install,$(TEST_PACKAGES))
	ACCESSORY_BRIDGE_SOAK_SECONDS=$(SOAK_SECONDS) swift test --filter '^CommandTests.SoakTests'
	ACCESSORY_BRIDGE_SOAK_SECONDS=$(SOAK_SECONDS) swift test --skip-build --filter '^CommandTests.PowerSoakTests'
	ACCESSORY_BRIDGE_SHARING_SOAK=1 swift test --skip-build --filter '^CommandTests.SharingSoakTests'

wireshark: #+ What Wireshark shows of captures by `trace --pcapng`, with wireshark/af1.lua
	$(call install,tshark)
	swift build --product bridge-cli
	Tests/Peers/Wireshark/check

# What it installs is from PyPI and large, so it isn't part of `make test`, which compares the same messages with checked ones.
homeassistant: #+ The messages of Home Assistant's discovery, by Home Assistant's own code
	Tests/Peers/HomeAssistant/run

metrics: #+ What Prometheus' promtool and its Python client think of the metrics of simulated accessories
	$(call install,prometheus python3-prometheus-client)
	swift build --product bridge-cli
	Tests/Peers/Metrics/check

browser: #+ The page of bridge-cli web in a real browser: follows accessories, and what axe says of it
	$(call install,chromium chromium-driver python3-selenium python3-venv mosquitto)
	swift build --product bridge-cli
	swift build --product bridge-fleet
	Tests/Peers/Browser/run "$$(swift build --show-bin-path)" --many 100 --open $(or $(OPEN),60)

recordings: #+ Makes the recorded conversations of Tests/Data/Recordings again, with foreign programs
	$(call install,python3-venv socat picocom mbpoll nut-server)
	swift build --product bridge-cli
	[ -d .build/recordings ] || python3 -m venv .build/recordings
	.build/recordings/bin/pip install -q -r Tests/Data/Recordings/requirements.txt
	PYTHON="$(CURDIR)/.build/recordings/bin/python" Tests/Data/Recordings/make
