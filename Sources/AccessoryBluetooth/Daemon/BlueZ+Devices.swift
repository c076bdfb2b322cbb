// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The kind of Bluetooth that devices are looked for with.
package enum BluetoothKind: String, Sendable {
  /// Bluetooth Low Energy.
  case lowEnergy = "le"
  /// Bluetooth Classic.
  case classic = "bredr"
  /// Both, where the adapter can.
  case any = "auto"
}

extension BlueZ {
  static let adapterInterface = "org.bluez.Adapter1"
  static let deviceInterface = "org.bluez.Device1"

  /// An adapter whose radio is on: the one with this name, or any one. Throws `notFound` when there is no such adapter, and
  /// `misconfigured` when it is off, or all are.
  package func adapter(_ name: BluetoothAdapterName? = nil) throws(AccessoryError) -> BluetoothAdapter {
    let adapters = objects.adaptersByName
    let found = name.map { name in objects.adapter(name).map { [$0] } ?? [] } ?? adapters
    if let adapter = found.first(where: \.isPowered) { return adapter }
    guard let first = found.first else {
      if let name, !adapters.isEmpty {
        let others = adapters.map { SafeText.escape($0.name) }.joined(separator: ", ")
        throw AccessoryError(.notFound, "this computer has no Bluetooth adapter \(name), only \(others)")
      }
      throw AccessoryError(.notFound, "this computer has no Bluetooth adapter, or its driver isn't loaded")
    }
    throw AccessoryError(
      .misconfigured,
      "the Bluetooth adapter \(SafeText.escape(first.name)) is off: bluetoothctl power on, and rfkill unblock bluetooth "
        + "if it is blocked")
  }

  /// Looks for devices of a kind until `stopSearching`, or until this conversation ends. With `services`, only devices that
  /// tell one of them are looked for; without `allSignals`, bluetoothd tells less often of a device that it has found.
  package func startSearching(
    _ kind: BluetoothKind, for services: [BluetoothUUID] = [], allSignals: Bool = true, on adapter: BluetoothAdapter
  ) async throws(AccessoryError) {
    do throws(BusFailure) {
      var filter = [
        BusArgument.Option("Transport", .text(kind.rawValue)),
        BusArgument.Option("DuplicateData", .boolean(allSignals)),
      ]
      if !services.isEmpty { filter.append(BusArgument.Option("UUIDs", .texts(services.map(\.text)))) }
      _ = try await call(adapter.path, Self.adapterInterface, "SetDiscoveryFilter", [.options(filter)])
      _ = try await call(adapter.path, Self.adapterInterface, "StartDiscovery")
    } catch {
      throw AccessoryError(refusal: error, "looking for Bluetooth devices with \(SafeText.escape(adapter.name))")
    }
  }

  /// Ends a search.
  package func stopSearching(on adapter: BluetoothAdapter) async {
    _ = try? await call(adapter.path, Self.adapterInterface, "StopDiscovery", within: .seconds(2))
  }

  /// The device with this address, at the adapter with this name or at any one. Looks for it where BlueZ doesn't know it. Throws
  /// `notFound` when it isn't found in time, or there is no such adapter, and `misconfigured` when the adapter is off.
  package func device(
    at address: BluetoothAddress, _ kind: BluetoothKind, by name: BluetoothAdapterName? = nil, within limit: Duration
  ) async throws(AccessoryError) -> BluetoothDevice {
    if name == nil, let known = objects.device(at: address), known.isConnected || known.isPaired { return known }
    let adapter = try adapter(name)
    let path = name == nil ? nil : adapter.path
    if let known = objects.device(at: address, on: path), objects.adapters[known.adapter]?.isPowered == true {
      return known
    }
    try await startSearching(kind, on: adapter)
    let late = AccessoryError.notOnTheAir(address, hint(adapter))
    let device = try await attempt { () throws(AccessoryError) in
      try await first(within: limit, otherwise: late) { objects in
        objects.device(at: address, on: path).map { .success($0) }
      }
    } finally: {
      await stopSearching(on: adapter)
    }
    return device
  }

  /// Which adapter was used, for messages; empty where there is only one.
  private func hint(_ adapter: BluetoothAdapter) -> String {
    objects.adapters.count > 1 ? " for the adapter \(SafeText.escape(adapter.name))" : ""
  }

  /// Connects a device, and returns when its services are known. Returns false when it was connected before, by another
  /// program.
  package func connect(
    _ device: BluetoothDevice, label: String, within limit: Duration
  ) async throws(AccessoryError) -> Bool {
    let adapter = objects.adapters[device.adapter].map { hint($0) } ?? ""
    let late = AccessoryError(
      .timedOut, "\(label) doesn't answer\(adapter): is it on, near enough, and not connected to another device?")
    let deadline = io.now + limit
    let wasConnected = objects.devices[device.path]?.isConnected ?? false
    var tries = 0
    while objects.devices[device.path]?.isConnected != true {
      tries += 1
      let left = deadline - io.now
      guard left > .zero else { throw late }
      do throws(BusFailure) {
        _ = try await call(device.path, Self.deviceInterface, "Connect", within: left)
        break
      } catch {
        // Ends the attempt, which bluetoothd otherwise goes on with for 40 seconds.
        if error.isTimeout || error == .cancelled {
          await post(device.path, Self.deviceInterface, "Disconnect")
          throw error.isTimeout ? late : AccessoryError(refusal: error, "connecting to \(label)")
        }
        // The first attempt often fails right after a search.
        let isPassing = error.name == "org.bluez.Error.Failed" && tries < 3
        if !isPassing { throw AccessoryError(refusal: error, "connecting to \(label)") }
        await io.sleep(for: .milliseconds(300))
      }
    }
    let left = max(.seconds(1), deadline - io.now)
    let gone = AccessoryError.disconnected(label)
    try await attempt { () throws(AccessoryError) in
      try await first(within: left, otherwise: late) { objects -> Result<Void, AccessoryError>? in
        guard let device = objects.devices[device.path], device.isConnected else { return .failure(gone) }
        return device.hasServicesResolved ? .success(()) : nil
      }
    } onFailure: { _ in
      if !wasConnected { await post(device.path, Self.deviceInterface, "Disconnect") }
    }
    return !wasConnected
  }

  /// Ends the connection to a device, and returns when it has ended.
  package func disconnect(_ path: String) async {
    guard objects.devices[path]?.isConnected == true else { return }
    _ = try? await call(path, Self.deviceInterface, "Disconnect", within: .seconds(5))
  }
}
