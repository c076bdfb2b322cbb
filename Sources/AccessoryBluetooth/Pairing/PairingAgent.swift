// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import MessageBus

/// Answers bluetoothd's questions about one device while it is being paired: the object `org.bluez.Agent1`.
///
/// It isn't the computer's default agent, so bluetoothd asks it only about devices that this program pairs.
struct PairingAgent: Sendable {
  static let path = "/org/accessorybridge/agent"
  static let interface = "org.bluez.Agent1"
  /// The abilities of a user at a terminal: reading and typing numbers.
  static let ability = "KeyboardDisplay"

  /// The path of the device that is being paired.
  let device: String
  let ask: @Sendable (PairingQuestion) async -> PairingAnswer

  static let rejected = BusFailure("org.bluez.Error.Rejected", "the person didn't agree")
  private static let unknown = BusFailure("org.freedesktop.DBus.Error.UnknownMethod", "no such method")

  func answer(_ call: BusMessage) async throws(BusFailure) -> [BusArgument] {
    guard call.interface == Self.interface else { throw Self.unknown }
    if call.member == "Release" || call.member == "Cancel" { return [] }
    guard call.values.first?.path == device else { throw Self.rejected }
    let second = call.values.dropFirst().first
    switch call.member {
    case "RequestPinCode":
      guard case .pin(let pin) = await ask(.pin), 1...16 ~= pin.utf8.count else { throw Self.rejected }
      return [.text(pin)]
    case "RequestPasskey":
      guard case .passkey(let passkey) = await ask(.passkey), passkey <= 999_999 else { throw Self.rejected }
      return [.unsigned32(passkey)]
    case "RequestConfirmation":
      guard let passkey = second?.integer.flatMap(UInt32.init(exactly:)), await ask(.isSame(passkey)) == .yes
      else { throw Self.rejected }
    case "RequestAuthorization":
      guard await ask(.isAllowed) == .yes else { throw Self.rejected }
    case "AuthorizeService": break  // The device's own services, of the device that is being paired.
    case "DisplayPinCode":
      guard let pin = second?.text, pin.utf8.count <= 16 else { throw Self.rejected }
      _ = await ask(.typePIN(pin))
    case "DisplayPasskey":
      guard let passkey = second?.integer.flatMap(UInt32.init(exactly:)) else { throw Self.rejected }
      let typed = call.values.count > 2 ? call.values[2].integer ?? 0 : 0
      _ = await ask(.typePasskey(passkey, typedCount: Int(clamping: typed)))
    default: throw Self.unknown
    }
    return []
  }
}
