// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus

extension BlueZ {
  private static let managerPath = "/org/bluez"
  private static let agentManager = "org.bluez.AgentManager1"
  /// The time limit of pairing, in which a person may have to find and type a number.
  package static let pairingLimit = Duration.seconds(90)
  /// The most attempts to pair, when the connection ends before the device has asked anything.
  private static let pairingTries = 3
  /// How long to wait for bluetoothd to report the end of pairing after the connection has ended.
  private static let pairingEnd = Duration.seconds(1)

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
    let hasAsked = Locked(false)
    let agent = PairingAgent(device: device.path) { question in
      hasAsked.withLock { $0 = true }
      return await ask(question)
    }
    do throws(BusFailure) {
      try await serve(PairingAgent.path) { call throws(BusFailure) in try await agent.answer(call) }
      _ = try await call(
        Self.managerPath, Self.agentManager, "RegisterAgent", [.path(PairingAgent.path), .text(PairingAgent.ability)])
    } catch {
      throw AccessoryError(refusal: error, "pairing \(label)")
    }
    return try await attempt { () throws(AccessoryError) in
      let deadline = io.now + limit
      await endLeftover(device.path)
      for tries in 1...Self.pairingTries {
        let (failure, wasLost) = await pairOnce(device.path, within: deadline - io.now)
        guard let failure else { return true }
        if failure.name == "org.bluez.Error.AlreadyExists" { return false }
        guard wasLost else { throw Self.pairingError(failure, label) }
        // A connection that another program has just given up ends two seconds later.
        guard tries < Self.pairingTries, !hasAsked.withLock({ $0 }), io.now < deadline else { break }
      }
      throw AccessoryError(
        .disconnected, "\(label) went away while it was being paired: is it near enough, and ready to be paired?")
    } finally: {
      // If this fails, the agent still ends with this connection.
      _ = try? await call(
        Self.managerPath, Self.agentManager, "UnregisterAgent", [.path(PairingAgent.path)], within: .seconds(2))
    }
  }

  /// Ends a connection that nobody uses any more. Some devices don't finish pairing on a connection on which an attempt has failed,
  /// for example after a command has read a value that requires pairing.
  private func endLeftover(_ path: String) async {
    guard let device = objects.devices[path], device.isConnected, device.deviceClass == nil,
      !objects.characteristics.values.contains(where: { $0.isInUse && $0.path.hasPrefix(path + "/") })
    else { return }
    await disconnect(path)
    _ = try? await first(within: Self.pairingEnd, otherwise: .disconnected(path)) { objects in
      objects.devices[path]?.isConnected == true ? nil : Result<Void, AccessoryError>.success(())
    }
  }

  /// Pairs a device. When the connection ends meanwhile, bluetoothd may never answer: then pairing is cancelled.
  private func pairOnce(_ path: String, within limit: Duration) async -> (failure: BusFailure?, wasLost: Bool) {
    let isConnected = Locked(objects.devices[path]?.isConnected == true)
    let end = Locked<TimerToken?>(nil)
    let key = observe { [weak self, io] (_, objects: BluetoothObjects) in
      let isThere = objects.devices[path]?.isConnected == true
      let wasThere = isConnected.withLock { isConnected in
        defer { isConnected = isThere }
        return isConnected
      }
      guard wasThere, !isThere else { return }
      end.withLock { end in
        end =
          end
          ?? io.schedule(at: io.now + Self.pairingEnd) { [weak self] in
            Task { [weak self] in await self?.post(path, Self.deviceInterface, "CancelPairing") }
          }
      }
    }
    defer {
      stopObserving(key)
      if let end = end.withLock({ $0 }) { io.cancel(end) }
    }
    do throws(BusFailure) {
      _ = try await call(path, Self.deviceInterface, "Pair", within: limit)
      return (nil, false)
    } catch {
      if error.isTimeout || error == .cancelled { await post(path, Self.deviceInterface, "CancelPairing") }
      let isOver = error.name == "org.bluez.Error.AuthenticationCanceled"
      return (error, isOver && end.withLock { $0 != nil })
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
