// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import CommandOutput

extension TraceFraming {
  /// What reads these frames; nil where nobody does, and the bytes are shown.
  var reader: (any FrameReader)? {
    guard case .driver(let name) = self else { return nil }
    return KnownDrivers.driver(named: name)?.frames?()
  }

  /// Says on standard error why a recording shows as bytes though it names a driver.
  func noteIfUnknown(in path: String) {
    guard case .driver(let name) = self, reader == nil else { return }
    Output.note("\(path) is of the driver \(name), whose frames this version can't read: its bytes are shown")
  }
}
