# SPDX-License-Identifier: Apache-2.0

.PHONY: start-up fleet-scale bench

BENCH_PACKAGES = $(BUILD_PACKAGES) socat ser2net

# Built as users have it, which the optimiser has refused before where a debug build was fine.
start-up: static #+ What a start of the release build costs, in instructions, against Benchmarks/StartUp/counts
	$(call install,valgrind binutils)
	Benchmarks/StartUp/check

# It takes five minutes, and wants a machine with nothing else to do.
fleet-scale: static #+ A thousand gateways on one mosquitto here, and ten whole machines: latency, processor time, memory
	$(call install,mosquitto mosquitto-clients jq)
	swift build $(RELEASE) --product fleet-scale
	Benchmarks/FleetScale/run .build/release

bench: #+ Measures against plain C loops, socat and SwiftNIO in the same run
	$(call install,$(BENCH_PACKAGES))
	swift build $(RELEASE) --product bridge-cli
	cd Benchmarks && swift run $(OPTIMIZED) bridge-bench
