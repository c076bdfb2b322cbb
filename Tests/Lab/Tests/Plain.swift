// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What needs a kernel with USB and a running udevd. One test at a time: they share ports and node names.
@Suite(.serialized, .ownGround(systemd: false), .timeLimit(.minutes(Patience.minutes(5)))) enum Plain {}
