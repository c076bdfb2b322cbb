// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import Foundation

extension RadioFailure {
  /// The error of Apple's domains.
  var error: any Error {
    switch self {
    case .refused(let number):
      // Numbers of the device's own, 0x80 and above, have no name.
      if let code = CBATTError.Code(rawValue: Int(number)) {
        CBATTError(code)
      } else {
        NSError(
          domain: CBATTErrorDomain, code: Int(number),
          userInfo: [NSLocalizedDescriptionKey: "The device has refused: error \(number) of the Attribute Protocol."])
      }
    case .connectionFailed: CBError(.connectionFailed)
    case .disconnected: CBError(.peripheralDisconnected)
    case .lost: CBError(.connectionTimeout)
    case .notConnected: CBError(.notConnected)
    case .pairingNeeded: CBError(.peerRemovedPairingInformation)
    case .noAttribute: CBError(.invalidHandle)
    case .unsupported: CBError(.operationNotSupported)
    case .failed: CBError(.unknown)
    }
  }
}
