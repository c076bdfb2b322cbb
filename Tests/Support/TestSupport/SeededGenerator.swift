// SPDX-License-Identifier: Apache-2.0

import AccessorySimulator

/// Random numbers that are the same in each run: the simulators' generator, for tests of what has no simulator, too.
public typealias SeededGenerator = AccessorySimulator.SeededGenerator
