// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

// Searching, and what is known of what was found.

extension HM10Central {
  /// Forgets what was found before, except for what is connected, and searches for so long, again and again if a scan is
  /// shorter. Each device is told as it is found; results stay until the next search.
  ///
  /// Throws `busy` when all modules are connected, and what they throw. When the task is cancelled, it returns early.
  public func search(for time: Duration) async throws(AccessoryError) {
    guard let radio = freeRadio.map({ radios[$0] }) else {
      throw AccessoryError(.busy, "all modules are connected: none can search")
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
          // A module that is done at once isn't asked without a pause.
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
    // Who cancels a search doesn't want to know that it was cancelled.
    if !Task.isCancelled { try outcome.get() }
  }

  /// A module without a connection.
  var freeRadio: Int? {
    let taken = Set(connections.values.map(\.radio)).union(deadRadios)
    return radios.indices.first { !taken.contains($0) }
  }

  private func remember(_ scan: HM10Scan) {
    for neighbour in scan.neighbours where found[neighbour.address] == nil { remember(neighbour) }
  }

  /// Takes what a scan found of a device. What it doesn't say is as before.
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

  // MARK: - What was found

  /// The devices by their addresses.
  public var devices: [BluetoothAddress: HM10Neighbour] { found }

  /// How many devices there are.
  public var deviceCount: Int { found.count }

  /// The devices in the order in which they were found.
  public var deviceList: [HM10Neighbour] { order.compactMap { found[$0] } }

  /// The devices with the strongest signal first, those without one last.
  public var strongestFirst: [HM10Neighbour] {
    deviceList.enumerated().sorted { first, second in
      let (one, other) = (first.element.signalStrength ?? .min, second.element.signalStrength ?? .min)
      return one == other ? first.offset < second.offset : one > other
    }.map(\.element)
  }

  /// A device's signal in dBm, as of the last search; nil when it isn't known.
  public func signalStrength(of address: BluetoothAddress) -> Int? { found[address]?.signalStrength }

  /// A device's name, as it sends it: escape it before showing it. Nil when it has none, or isn't known.
  public func name(of address: BluetoothAddress) -> String? { found[address]?.name }

  /// The devices to which there is a connection.
  public var connected: [BluetoothAddress] {
    connections.filter { $0.value.stage == .connected }.keys.sorted { $0.rawValue < $1.rawValue }
  }
}
