// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import FamilyHIDPower
import FamilyHIDPowerSimulator

/// Descriptors and reports of real devices.
public enum HIDSamples {
  /// What CyberPower's UPSs send.
  public static let cyberPower = UPSModel.cyberpower.descriptor

  /// The bytes of a text in hexadecimal with spaces.
  public static func bytes(_ text: String) -> [UInt8] { Hexadecimal.bytes(text.filter { !$0.isWhitespace }) ?? [] }
}
