# SPDX-License-Identifier: Apache-2.0

.PHONY: web-pictures pictures docs

web-pictures: #+ The pictures of that page: Documentation/pictures/web*.png
	$(call install,chromium chromium-driver python3-selenium python3-venv fonts-noto-core mosquitto)
	swift build --product bridge-cli
	swift build --product bridge-fleet
	Tests/Peers/Browser/run "$$(swift build --show-bin-path)" --pictures Documentation/pictures

pictures: #+ The pictures of the documentation, of the program itself: Documentation/pictures
	$(call install,tmux python3)
	swift build --product bridge-cli
	Documentation/pictures/make "$$(swift build --show-bin-path)"

docs: #+ A site of these pages and of the libraries' reference, by DocC: .build/docs
	$(call install,$(BUILD_PACKAGES) python3 jq)
	swift build
	Documentation/make-site
