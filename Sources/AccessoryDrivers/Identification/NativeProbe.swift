// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// How to find a kind that has a driver in Swift.
package struct NativeProbe: Sendable {
  var kind: String
  var probe: any KindProbe
  var sends: [IdentificationStep.Sending]
  var times: Int
  var farewell: [UInt8]
  var timeout: Duration

  /// A probe for a kind. `sends` is empty when it only listens; `farewell` undoes what the request did.
  package init(
    kind: String, probe: any KindProbe, sends: [[UInt8]] = [], times: Int = 2, farewell: [UInt8] = [], timeout: Duration
  ) {
    (self.kind, self.probe, self.sends) = (kind, probe, sends.map { .init($0) })
    (self.times, self.farewell, self.timeout) = (times, farewell, timeout)
  }
}
