// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// A raised or cleared alarm, as a part of other documents. The fields are those of the control socket's protocol;
/// missing ones are null.
package struct AlarmFields: Encodable, Sendable {
  private let fields: WithNulls<Bridge.Alarm>

  /// The fields of an alarm.
  package init(_ alarm: Bridge.Alarm) { fields = WithNulls(alarm) }

  /// Writes all fields, nil ones as null.
  package func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}
