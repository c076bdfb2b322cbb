// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// How long an absent accessory is waited for.
struct WaitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Wait up to this long for an absent accessory.",
      valueName: "time"),
    transform: SecondsArgument.read)
  var wait: SecondsArgument?
}
