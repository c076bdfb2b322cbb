// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The wire format of alarms is that of `AccessoryAlarm` and `UnfitAlarm`.

extension ReplyLimits {
  /// Throws when there are too many alarms of one accessory.
  static func check(count alarms: [AccessoryAlarm]?) throws(ReplyNumberError) {
    try check(alarms?.count, 0...AlarmRule.countLimit, "the number of alarms")
  }
}

extension UnfitAlarm: CheckedReply {
  /// The longest reason: it has the name of a value, and units.
  private static let reasonBytes = 1_024

  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(length: name, AlarmRule.textLimit, "name")
    try ReplyLimits.check(length: rule, AlarmRule.textLimit, "rule")
    try ReplyLimits.check(length: reason, Self.reasonBytes, "reason")
  }

  /// Throws when there are too many rules of one accessory, or when one is beyond its limits.
  static func check(_ unfit: [Self]) throws(ReplyNumberError) {
    try ReplyLimits.check(unfit.count, 0...AlarmRule.countLimit, "the number of unfit alarms")
    for one in unfit { try one.check() }
  }
}
