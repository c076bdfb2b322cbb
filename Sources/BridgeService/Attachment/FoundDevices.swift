// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// The devices that the sources report, and what clients want of devices that aren't attached. Used on the service's actor only.
struct FoundDevices {
  let searches = UnitSearches()
  var sources: [any DeviceSource] = []
  /// The tasks that follow the sources.
  var watching: [Task<Void, Never>] = []
  /// The wishes for which the sources search, and the last task that has passed them on.
  var wanted = Wanted()
  var wishing: Task<Void, Never>?
  /// The timer after which the log says how many accessories are attached.
  var scanTimer: TimerToken?
  /// The paths of devices that are attached as soon as a source reports them.
  var expectations = Expectations()
  /// The devices that a client has detached. An entry is removed when the device is unplugged.
  private var detached: [Device] = []
  /// By their addresses: many devices may come and go at once. The numbers increase in the order of arrival.
  private var present: [DeviceAddress: [(number: Int, device: Device)]] = [:]
  private var nextNumber = 0
  private(set) var count = 0

  /// Ends following the sources.
  func end(_ clock: any TimerClock) {
    for task in watching { task.cancel() }
    if let scanTimer { clock.cancel(scanTimer) }
  }

  /// The present devices in the order of arrival.
  var all: [Device] { present.values.joined().sorted { $0.number < $1.number }.map(\.device) }

  func contains(_ device: Device) -> Bool { present[device.address]?.contains { $0.device == device } ?? false }

  /// Whether a device with this identity is at this address.
  func contains(_ lineIdentity: String, at address: DeviceAddress) -> Bool {
    present[address]?.contains { $0.device.lineIdentity == lineIdentity } ?? false
  }

  mutating func add(_ device: Device) {
    nextNumber += 1
    insert(nextNumber, device)
  }

  private mutating func insert(_ number: Int, _ device: Device) {
    present[device.address, default: []].append((number, device))
    count += 1
  }

  /// Removes a device that is gone. It may be attached when it comes back, even if a client has detached it.
  mutating func remove(_ device: Device) {
    _ = take(device)
    attach(line: device)
  }

  /// Replaces a device by the same one with other properties.
  mutating func replace(_ old: Device, by device: Device) {
    guard let number = take(old) else { return add(device) }
    insert(number, device)
  }

  /// Removes all entries of a device. Returns the first one's number.
  private mutating func take(_ device: Device) -> Int? {
    let numbers = present[device.address]?.filter { $0.device == device }.map(\.number) ?? []
    guard !numbers.isEmpty else { return nil }
    present[device.address]?.removeAll { $0.device == device }
    if present[device.address]?.isEmpty == true { present[device.address] = nil }
    count -= numbers.count
    return numbers.min()
  }

  // MARK: - Devices that a client has detached

  mutating func detach(_ device: Device) { detached.append(device) }

  /// Forgets that this accessory was detached.
  mutating func attach(_ device: Device) {
    detached.removeAll {
      $0.address == device.address.ofAnyAdapter && $0.lineIdentity == device.lineIdentity && $0.unit == device.unit
    }
  }

  /// Forgets that accessories on this line were detached.
  mutating func attach(line: Device) {
    detached.removeAll { $0.address == line.address.ofAnyAdapter && $0.lineIdentity == line.lineIdentity }
  }

  func isDetached(_ device: Device) -> Bool {
    detached.contains {
      $0.address == device.address && $0.lineIdentity == device.lineIdentity && $0.unit == device.unit
    }
  }
}
