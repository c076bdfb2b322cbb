// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import ArgumentParser

/// How `battery`, `status` and `values` read an accessory, whether a service has it open or not.
struct ReadingOptions: PlainOptions {
  @Flag(help: "Show no earlier reading: ask now, or wait for the next one.")
  var fresh = false

  mutating func setDefaults() { fresh = false }

  /// The options for the service.
  var wish: ReadingWish { ReadingWish(isFresh: fresh) }
}
