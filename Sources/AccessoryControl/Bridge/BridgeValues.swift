// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The method that reads an accessory's values.

extension Bridge {
  package struct GetValues: ControlMethod {
    package static let method = "accessorybridge.Bridge.Values"

    package struct Reply: Codable, Sendable, Hashable {
      package var device: Device
      package var values: [Read<AccessoryValue>]
      /// As in `GetStatus`.
      package var missing: String?

      package init(device: Device, values: [Read<AccessoryValue>], missing: String? = nil) {
        self.device = device
        (self.values, self.missing) = (values, missing)
      }
    }

    package var device: String?
    package init(device: String? = nil) { self.device = device }
  }
}

extension Bridge.GetValues.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(count: values)
  }
}

extension ReplyLimits {
  /// Throws when there are too many values.
  static func check(count values: [Read<AccessoryValue>]) throws(ReplyNumberError) {
    try check(values.count, 0...ReadingLimits.values, "the number of values")
  }
}
