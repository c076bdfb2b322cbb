// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput

/// The devices from which a setup chooses.
enum SetupDevices {
  /// What is there, each accessory once. Of Bluetooth only what a description knows: everything else is the neighbours'.
  static func all() async throws -> [Device] {
    let devices = try await KnownDevices.source().devices().filter { device in
      device.mayBeAccessory && device.source != .bluetooth && device.address.files == nil
        || device.bluetooth != nil && !KnownDrivers.library.kindsOnAir(device).isEmpty
    }
    return devices
  }

  /// A row for each device: its number, its name, its path, what it is.
  static func lines(_ devices: [Device], _ store: ProfileStore) -> [String] {
    var table = Table(["", "DEVICE", "PATH", "WHAT IT IS"], endsInText: true)
    for (index, device) in devices.enumerated() {
      table.add([
        "\(index + 1)", SafeText.escape(device.id, limit: 64), SafeText.escape(device.place, limit: 120),
        what(device, store),
      ])
    }
    return table.lines(.standardError, columns: TerminalSize.columns(of: 2))
  }

  private static func what(_ device: Device, _ store: ProfileStore) -> String {
    if let profile = store.profile(for: device), let driver = profile.driver { return driver }
    if let kind = KnownDrivers.library.kindsOnAir(device).first { return "probably \(kind.kind)" }
    let told = [device.manufacturer, device.name ?? device.model].compactMap { $0 }.joined(separator: " ")
    return told.isEmpty ? "not known yet" : SafeText.escape(told, limit: 120)
  }

  /// The next device that is plugged in.
  static func next() async throws -> Device {
    let source = try KnownDevices.source()
    // The events begin with the devices that are there.
    var present = try await source.devices()
    let events = try await source.events()
    Output.note("Plug it in now. If it is in already, pull it out first. Ctrl-C ends this.")
    for await event in events {
      switch event {
      case .added(let device), .changed(let device, _):
        // Until udev's rules have run, the device isn't whole.
        guard device.source != .bluetooth, device.mayBeAccessory, device.isInitialized,
          !present.contains(where: { $0.isSame(as: device) })
        else { continue }
        Output.note("\(SafeText.escape(device.id, limit: 64)) came, at \(SafeText.escape(device.place, limit: 120)).")
        return device
      case .removed(let device):
        guard present.contains(where: { $0.isSame(as: device) }) else { continue }
        present.removeAll { $0.isSame(as: device) }
        if device.mayBeAccessory { Output.note("\(SafeText.escape(device.id, limit: 64)) is out. Plug it in again.") }
      }
    }
    throw AccessoryError(.cancelled, "nothing was written")
  }
}
