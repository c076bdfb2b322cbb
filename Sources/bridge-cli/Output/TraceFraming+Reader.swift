// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import CommandOutput

extension TraceFraming {
  /// The decoder of these frames; nil when there is none, so that the bytes are shown.
  var reader: (any FrameReader)? {
    guard case .driver(let name) = self else { return nil }
    return KnownDrivers.driver(named: name)?.frames?()
  }

  /// Notes on standard error that a recording names an unknown driver and is shown as bytes.
  func noteIfUnknown(in path: String) {
    guard case .driver(let name) = self, reader == nil else { return }
    Output.note(
      "\(path) was recorded with the driver \(name), whose frames this version can't decode: its bytes are shown")
  }
}
