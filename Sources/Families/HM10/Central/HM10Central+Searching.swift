// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

// Searching, and the devices that were found.

extension HM10Central {
  /// Searches for this time, with several scans if one is shorter. Devices from earlier searches are dropped first,
  /// except for connected ones. Each device is an event when it is found; results stay until the next search.
  ///
  /// Throws `busy` when all modules are connected, and what the modules throw. Returns early, without an error, when
  /// the task is cancelled.
  public func search(for time: Duration) async throws(AccessoryError) {
    guard let radio = freeRadio.map({ radios[$0] }) else {
      throw AccessoryError(.busy, "no module can search, because all are connected")
    }
    order.removeAll { connections[$0] == nil }
    found = found.filter { connections[$0.key] != nil }
    let clock = clock
    let outcome = await withTaskGroup(of: Result<Void, AccessoryError>.self) { group in
      group.addTask { [weak self] in
        while !Task.isCancelled {
          do throws(AccessoryError) {
            let scan = try await radio.scan()
            await self?.remember(scan)
          } catch {
            return .failure(error)
          }
          // A pause, for a module whose scans end at once.
          await clock.sleep(for: .milliseconds(100))
        }
        return .success(())
      }
      group.addTask {
        await clock.sleep(for: time)
        return .success(())
      }
      let first = await group.next() ?? .success(())
      group.cancelAll()
      return first
    }
    tell(.searchEnded)
    // The caller cancelled the search, so this throws no error for that.
    if !Task.isCancelled { try outcome.get() }
  }

  /// The index of a module that is neither connected nor gone.
  var freeRadio: Int? {
    let taken = Set(connections.values.map(\.radio)).union(deadRadios)
    return radios.indices.first { !taken.contains($0) }
  }

  private func remember(_ scan: HM10Scan) {
    for neighbour in scan.neighbours where found[neighbour.address] == nil { remember(neighbour) }
  }

  /// Stores what a scan found of a device, and sends an event if that is new. Fields that the scan left out keep their values.
  func remember(_ neighbour: HM10Neighbour) {
    var neighbour = neighbour
    if let old = found[neighbour.address] {
      neighbour.name = neighbour.name ?? old.name
      neighbour.signalStrength = neighbour.signalStrength ?? old.signalStrength
      neighbour.addressType = neighbour.addressType ?? old.addressType
      if neighbour == old { return }
    } else {
      guard order.count < policy.mostDevices else { return }
      order.append(neighbour.address)
    }
    found[neighbour.address] = neighbour
    tell(.found(neighbour))
  }

  // MARK: - Devices

  /// The devices that were found, by address.
  public var devices: [BluetoothAddress: HM10Neighbour] { found }

  /// The number of devices that were found.
  public var deviceCount: Int { found.count }

  /// The devices in the order in which they were found.
  public var deviceList: [HM10Neighbour] { order.compactMap { found[$0] } }

  /// The devices with the strongest signal first, and those without a known signal last.
  public var strongestFirst: [HM10Neighbour] {
    deviceList.enumerated().sorted { first, second in
      let (one, other) = (first.element.signalStrength ?? .min, second.element.signalStrength ?? .min)
      return one == other ? first.offset < second.offset : one > other
    }.map(\.element)
  }

  /// A device's signal strength in dBm during the last search; nil when it isn't known.
  public func signalStrength(of address: BluetoothAddress) -> Int? { found[address]?.signalStrength }

  /// A device's name as it sends it, not escaped. Nil when it has none, or when the device isn't known.
  public func name(of address: BluetoothAddress) -> String? { found[address]?.name }

  /// The devices that are connected, sorted by address.
  public var connected: [BluetoothAddress] {
    connections.filter { $0.value.stage == .connected }.keys.sorted { $0.rawValue < $1.rawValue }
  }
}
