// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// How long an absent accessory is waited for.
struct WaitOptions: PlainOptions {
  @Option(
    help: .value("time", "Wait up to this long for an absent accessory."), transform: SecondsArgument.read)
  var wait: SecondsArgument?

  mutating func setDefaults() { wait = nil }
}
