# SPDX-License-Identifier: Apache-2.0

.PHONY: completions man uninstall changelog static-arm64 deb deb-test static-debian deb-source deb-source-test

# What makes the Debian packages, and judges them; what boots a bare Debian in a folder.
DEB_PACKAGES = $(BUILD_PACKAGES) dpkg-dev binutils xz-utils
DEB_TEST_PACKAGES = $(DEB_PACKAGES) lintian debootstrap util-linux

completions: #+ Completions for bash, zsh and fish: .build/completions
	$(call install,$(BUILD_PACKAGES))
	swift build --product bridge-cli
	swift build --product bridge-fleet
	mkdir -p .build/completions
	folder="$$(swift build --show-bin-path)"; for name in bridge-cli bridge-fleet; do \
	  "$$folder/$$name" --generate-completion-script bash > .build/completions/$$name.bash; \
	  "$$folder/$$name" --generate-completion-script zsh > .build/completions/_$$name; \
	  "$$folder/$$name" --generate-completion-script fish > .build/completions/$$name.fish; done

# By the release that `make static` has built, if it has, or else by a debug build.
man: #+ Manual pages: .build/man
	@[ -x "$(BRIDGE_CLI)" ] || $(MAKE) build
	rm -rf .build/man
	program="$(BRIDGE_CLI)"; [ -x "$$program" ] || program="$$(swift build --show-bin-path)/bridge-cli"; \
	"$$program" --generate-manual .build/man
	program="$$(dirname "$(BRIDGE_CLI)")/bridge-fleet"; [ -x "$$program" ] || program="$$(swift build --show-bin-path)/bridge-fleet"; \
	[ ! -x "$$program" ] || "$$program" --generate-manual .build/man

uninstall: #+ Takes away what install has installed, but for your own profiles
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" systemd/setup uninstall

changelog: #+ Puts the files of changes/ into CHANGELOG.md, as the changes of VERSION
	@[ -n "$(VERSION)" ] || { echo "Which version? make changelog VERSION=0.3.0" >&2; exit 64; }
	packaging/changes --release "$(VERSION)"

# For another architecture than this machine's, here arm64 on amd64: compiled by Debian's Swift with Debian 13's libraries, which it gets once.
CROSS = $(filter-out $(shell dpkg --print-architecture 2>/dev/null),$(ARCH))

# Addresses that the loader mends are packed, which needs glibc 2.36. lld warns of each file of Debian's runtime that it doesn't say
# whose addresses are taken.
PACKED = -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-warnings
static-arm64: SMALL += $(PACKED)
static-arm64: #+ The same for arm64 (Debian 13, Raspberry Pi OS), on an amd64 Debian without Swift: .build/arm64/build/release
	packaging/arm64/swift-build $(RELEASE) --product bridge-cli

deb: $(if $(CROSS),static-$(CROSS),static) ## Debian packages of both programs, with debug symbols apart: .build/deb; ARCH=arm64 for these
	$(if $(CROSS),,$(call install,$(DEB_PACKAGES)))
	$(if $(CROSS),packaging/$(CROSS)/in env ARCH=$(CROSS) PROGRAMS=.build/$(CROSS)/build/release) packaging/build

# What it fetches is Debian's base system, 100 MB, so it isn't part of `make test`.
deb-test: deb #+ lintian's opinion of the packages; installs, upgrades and purges them in a bare Debian in a folder; ARCH=arm64: lintian alone
	$(if $(CROSS),,$(call install,$(DEB_TEST_PACKAGES)))
	$(if $(CROSS),packaging/$(CROSS)/in )packaging/lint $(ARCH)
	$(if $(CROSS),@echo "Installed they are by make lab-$(CROSS).",packaging/test)

# What is built in there, by dpkg-buildpackage, is by Debian's own Swift.
static-debian: SMALL += $(PACKED) -Xswiftc -use-ld=lld
static-debian:
	swift build $(RELEASE) --product bridge-cli

deb-source: #+ The Debian source package, with the Swift packages that it needs, for builds without a network: .build/source
	$(call install,git dpkg-dev xz-utils)
	packaging/source

# What it fetches is Debian unstable and its Swift, 0.9 GB, and it compiles all. So it isn't part of `make test`.
deb-source-test: deb-source #+ Builds the Debian source package in a bare Debian unstable in a folder, without a network; asks its lintian
	$(call install,debootstrap util-linux)
	packaging/test-source
