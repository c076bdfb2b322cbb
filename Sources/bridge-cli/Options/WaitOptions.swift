// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// How long an absent accessory is waited for.
struct WaitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "If the accessory isn't there, wait up to this long for it to be plugged in, in seconds or with a unit.",
      valueName: "time"),
    transform: SecondsArgument.read)
  var wait: SecondsArgument?
}
