// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

extension BlueZ {
  private static let managerPath = "/org/bluez"
  private static let agentManager = "org.bluez.AgentManager1"
  /// The time limit of pairing, in which a person may have to find and type a number.
  package static let pairingLimit = Duration.seconds(90)

  /// Pairs a device, and returns false when it was paired before. `ask` is called with bluetoothd's questions to the
  /// user, and may take as long as it needs.
  ///
  /// Throws `permissionDenied` when the device or the person refuses or a number is wrong, `timedOut` when the device doesn't
  /// answer, `disconnected` when it goes away, and `cancelled` when the task is cancelled, after pairing was cancelled.
  package func pair(
    _ device: BluetoothDevice, label: String, within limit: Duration = pairingLimit,
    _ ask: @escaping @Sendable (PairingQuestion) async -> PairingAnswer
  ) async throws(AccessoryError) -> Bool {
    if objects.devices[device.path]?.isPaired == true { return false }
    let agent = PairingAgent(device: device.path, ask: ask)
    do throws(BusFailure) {
      try await serve(PairingAgent.path) { call throws(BusFailure) in try await agent.answer(call) }
      _ = try await call(
        Self.managerPath, Self.agentManager, "RegisterAgent", [.path(PairingAgent.path), .text(PairingAgent.ability)])
    } catch {
      throw AccessoryError(refusal: error, "pairing \(label)")
    }
    return try await attempt { () throws(AccessoryError) in
      do throws(BusFailure) {
        _ = try await call(device.path, Self.deviceInterface, "Pair", within: limit)
        return true
      } catch {
        if error.name == "org.bluez.Error.AlreadyExists" { return false }
        if error.isTimeout || error == .cancelled { await post(device.path, Self.deviceInterface, "CancelPairing") }
        throw Self.pairingError(error, label)
      }
    } finally: {
      // The agent ends with this conversation, too.
      _ = try? await call(
        Self.managerPath, Self.agentManager, "UnregisterAgent", [.path(PairingAgent.path)], within: .seconds(2))
    }
  }

  private static func pairingError(_ failure: BusFailure, _ label: String) -> AccessoryError {
    switch failure.name {
    case "org.bluez.Error.AuthenticationFailed", "org.bluez.Error.AuthenticationRejected":
      return AccessoryError(
        .permissionDenied, "\(label) wasn't paired: it refused, or the number was wrong. Is it ready to be paired?")
    case "org.bluez.Error.AuthenticationCanceled":
      return AccessoryError(.cancelled, "\(label) wasn't paired: it was cancelled here or at the device")
    case "org.bluez.Error.AuthenticationTimeout", "org.bluez.Error.ConnectionAttemptFailed":
      return AccessoryError(.timedOut, "\(label) wasn't paired, because it doesn't answer: is it on, and near enough?")
    default: break
    }
    if failure.isTimeout {
      return AccessoryError(.timedOut, "\(label) wasn't paired in time: is it on, near enough, and ready to be paired?")
    }
    return AccessoryError(refusal: failure, "pairing \(label)")
  }

  /// Ends the pairing with a device, and forgets the device. Throws `notFound` when BlueZ doesn't know it.
  package func unpair(_ device: BluetoothDevice, label: String) async throws(AccessoryError) {
    do throws(BusFailure) {
      _ = try await call(device.adapter, Self.adapterInterface, "RemoveDevice", [.path(device.path)])
    } catch {
      throw AccessoryError(refusal: error, "unpairing \(label)")
    }
  }

  /// Sets whether a device may connect to this computer's services without asking the user.
  package func trust(_ device: BluetoothDevice, _ isTrusted: Bool, label: String) async throws(AccessoryError) {
    do throws(BusFailure) {
      _ = try await call(
        device.path, "org.freedesktop.DBus.Properties", "Set",
        [.text(Self.deviceInterface), .text("Trusted"), .variant(.boolean(isTrusted))])
    } catch {
      throw AccessoryError(refusal: error, "trusting \(label)")
    }
  }
}
