// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus

/// The kind of Bluetooth to search with.
package enum BluetoothKind: String, Sendable {
  case lowEnergy = "le"
  case classic = "bredr"
  /// Both, if the adapter supports it.
  case any = "auto"
}

extension BlueZ {
  static let adapterInterface = "org.bluez.Adapter1"
  static let deviceInterface = "org.bluez.Device1"

  /// An adapter whose radio is on: the one with this name, or any. Throws `notFound` when there is no such adapter, and
  /// `misconfigured` when it, or every adapter, is off.
  package func adapter(_ name: BluetoothAdapterName? = nil) throws(AccessoryError) -> BluetoothAdapter {
    let found = objects.adapters(name)
    if let adapter = found.first(where: \.isPowered) { return adapter }
    guard let first = found.first else {
      let adapters = objects.adaptersByName
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

  /// Searches for devices of a kind until `stopSearching`, or until this connection ends. With `services`, only for
  /// devices that advertise one of them. Without `allSignals`, bluetoothd reports a found device less often.
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

  /// Finds the device with this address, at the adapter with this name or at any adapter. Searches for it if BlueZ doesn't know it.
  /// Throws `notFound` when it isn't found in time or there is no such adapter, and `misconfigured` when the adapter is off.
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

  /// The adapter's name for messages; empty if there is only one.
  private func hint(_ adapter: BluetoothAdapter) -> String {
    objects.adapters.count > 1 ? " for the adapter \(SafeText.escape(adapter.name))" : ""
  }

  /// Connects a device, and returns when its services are known. Searches for it first if BlueZ doesn't know it. `isOurs` is false if
  /// another program had connected it before.
  /// was connected before, by another program.
  package func connect(
    _ address: BluetoothAddress, by adapter: BluetoothAdapterName?, label: String, searching: Duration,
    within limit: Duration
  ) async throws(AccessoryError) -> (device: BluetoothDevice, isOurs: Bool) {
    let device = try await device(at: address, .lowEnergy, by: adapter, within: searching)
    do throws(AccessoryError) {
      return (device, try await connect(device, label: label, within: limit))
    } catch  where error.kind == .notFound {
      // bluetoothd forgets a device half a minute after it was received. That can happen just before this call.
      let again = try await self.device(at: address, .lowEnergy, by: adapter, within: searching)
      return (again, try await connect(again, label: label, within: limit))
    }
  }

  /// An adapter makes one connection at a time. Connections that are begun together wait for each other inside of bluetoothd, and the time
  /// limit of each goes on meanwhile: of ten, the last ones fail again and again. With turns, the time limit of each begins with its turn,
  /// and who fails stands at the end of the queue.
  private static let turns = Turns()

  /// Waits for the device's turn, connects it, and returns when its services are known. Returns false if another program had
  /// connected it before. Throws `notFound` when bluetoothd has forgotten it.
  private func connect(
    _ device: BluetoothDevice, label: String, within limit: Duration
  ) async throws(AccessoryError) -> Bool {
    try await Self.turns.take(at: "\(place) \(device.adapter)") { () throws(AccessoryError) in
      try await connectNow(device, label: label, within: limit)
    }
  }

  private func connectNow(
    _ device: BluetoothDevice, label: String, within limit: Duration
  ) async throws(AccessoryError) -> Bool {
    let path = device.path
    let adapter = objects.adapters[device.adapter].map { hint($0) } ?? ""
    let late = AccessoryError(
      .timedOut, "\(label) doesn't answer\(adapter): is it on, near enough, and not connected to another device?")
    let deadline = io.now + limit
    var isOurs = false
    for tries in 1...Self.connectTries {
      let mayTryAgain = tries < Self.connectTries
      if objects.devices[path]?.isConnected != true {
        isOurs = true
        let left = deadline - io.now
        guard left > .zero else { throw late }
        do throws(BusFailure) {
          _ = try await call(path, Self.deviceInterface, "Connect", within: left)
        } catch {
          // End the attempt. Otherwise bluetoothd continues it for 40 seconds.
          if error.isTimeout || error == .cancelled { await post(path, Self.deviceInterface, "Disconnect") }
          if error.isTimeout { throw late }
          let isUnknown = ["UnknownObject", "UnknownMethod"].contains {
            error.name == "org.freedesktop.DBus.Error." + $0
          }
          if isUnknown, objects.devices[path] == nil {
            throw AccessoryError(.notFound, "\(label) isn't there any more")
          }
          // The first attempt often fails right after a search.
          let isPassing = error.name == "org.bluez.Error.Failed" && mayTryAgain
          if !isPassing { throw refusal(error, "connecting to \(label)", of: path) }
          await io.sleep(for: .milliseconds(300))
          continue
        }
      }
      let left = max(.seconds(1), deadline - io.now)
      if try await isResolved(path, label, ours: isOurs, within: left) { return isOurs }
      // A connection that is lost at once was never made: the device hasn't received the request.
      if mayTryAgain { await io.sleep(for: .milliseconds(300)) }
    }
    throw .disconnected(label)
  }

  /// The most attempts to connect a device.
  private static let connectTries = 3

  /// Waits until the services of a device are known. Returns false if the connection is lost before. If the services don't come in
  /// time, ends the connection if it is `ours`.
  private func isResolved(
    _ path: String, _ label: String, ours: Bool, within limit: Duration
  ) async throws(AccessoryError) -> Bool {
    let hint = unpaired(path).map { AccessoryError.pairingHint($0) } ?? ""
    let late = AccessoryError(.timedOut, "\(label) is connected, but doesn't tell its services\(hint)")
    return try await attempt { () throws(AccessoryError) in
      try await first(within: limit, otherwise: late) { objects in
        guard let device = objects.devices[path] else { return .failure(.disconnected(label)) }
        guard device.isConnected else { return .success(false) }
        return device.hasServicesResolved ? .success(true) : nil
      }
    } onFailure: { _ in
      if ours { await post(path, Self.deviceInterface, "Disconnect") }
    }
  }

  /// The address for pairing a device, from the path of its object or of one below; nil when it is paired. BlueZ may have forgotten
  /// an unpaired device.
  func unpaired(_ path: String, _ kind: TransportKind = .ble) -> DeviceAddress? {
    let known = objects.devices[path] ?? objects.devices.values.first { path.hasPrefix($0.path + "/") }
    let name = path.split(separator: "/").first { $0.hasPrefix("dev_") }?.dropFirst(4)
    guard known?.isPaired != true,
      let address = known?.address ?? name.flatMap({ BluetoothAddress(String($0.map { $0 == "_" ? ":" : $0 })) })
    else { return nil }
    return kind == .rfcomm ? .rfcomm(address, channel: nil) : .ble(address)
  }

  /// The error for a refused call about a device. `path` is that of its object or of one below.
  func refusal(_ failure: BusFailure, _ action: String, of path: String) -> AccessoryError {
    AccessoryError(refusal: failure, action, unpaired: unpaired(path))
  }

  /// Ends the connection to a device, and returns when it has ended.
  package func disconnect(_ path: String) async {
    guard objects.devices[path]?.isConnected == true else { return }
    _ = try? await call(path, Self.deviceInterface, "Disconnect", within: .seconds(5))
  }
}
