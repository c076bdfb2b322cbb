// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// How long an absent accessory is waited for.
struct WaitOptions: PlainOptions {
  @Option(
    help: .value("time", "If the accessory is absent, wait up to this long for it."), transform: SecondsArgument.read)
  var wait: SecondsArgument?

  mutating func setDefaults() { wait = nil }
}
