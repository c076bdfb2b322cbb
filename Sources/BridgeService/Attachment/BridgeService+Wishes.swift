// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

// Devices on the air: which of them the service may connect, and which ones it has searched for.

extension BridgeService {
  /// Whether the service may attach a device by itself. A Bluetooth device needs a profile with `connect: allowed`,
  /// because it may be a stranger's.
  func mayAttach(_ device: Device, _ profile: Profile?) -> Bool {
    if device.bluetooth == nil { return profile != nil }
    return profile?.allowsConnecting == true
  }

  /// Whether profiles of different protocols match a device that the service may attach.
  func hasConflict(_ device: Device) -> Bool {
    profiles.conflict(for: device, label: device.id) != nil
      && (device.bluetooth == nil || profiles.claiming(device).contains(where: \.allowsConnecting))
  }

  /// Whether a profile waits for devices on the air, which nothing but the service searches for.
  var awaitsTheAir: Bool { !found.sources.isEmpty && profiles.profiles.contains { !$0.wishes.isEmpty } }

  /// Has the sources search for the devices that profiles and attachments wait for; nothing more than that.
  func renewWishes() {
    let wanted = isClosing ? FoundDevices.Wanted() : self.wanted
    guard wanted != found.wanted else { return }
    found.wanted = wanted
    let wishes = wanted.wishes
    let (sources, before) = (found.sources, found.wishing)
    // Pass wishes on one after another, so that the last ones count.
    found.wishing = Task {
      await before?.value
      for source in sources { await source.wait(for: wishes) }
    }
  }

  private var wanted: FoundDevices.Wanted {
    var wanted = FoundDevices.Wanted()
    wanted.profiles = profiles.profiles.filter(\.allowsConnecting)
    for attachment in attachments.ordered where attachment.machine.state != .failed {
      let device = attachment.device
      guard let address = device.bluetooth?.address else { continue }
      let rule = attachment.profile?.rules.first { $0.fits(device) }
      wanted.places[address] = FoundDevices.Wanted.Place(
        transport: attachment.target.address.transport, service: rule?.bluetooth?.service,
        adapter: attachment.target.address.adapter ?? attachment.profile?.transport.bluetoothAdapter)
    }
    return wanted
  }
}

extension Attachment {
  /// Whether it waits for a device with a temporary address that the user hasn't named.
  var awaitsPassingAddress: Bool {
    guard !machine.isPresent, machine.state == .waiting, let bluetooth = device.bluetooth, bluetooth.hasPassingAddress,
      !claim.isByHand
    else { return false }
    return profile?.rules.contains { $0.bluetooth?.address == bluetooth.address } != true
  }
}

extension FoundDevices {
  /// The Bluetooth devices to search for.
  struct Wanted: Equatable {
    struct Place: Equatable {
      let transport: TransportKind
      let service: BluetoothUUID?
      let adapter: BluetoothAdapterName?
    }

    /// The profiles that allow connecting.
    var profiles: [Profile] = []
    /// The devices that are attached, or are to be.
    var places: [BluetoothAddress: Place] = [:]

    var wishes: [DeviceWish] {
      profiles.flatMap(\.wishes)
        + places.sorted { $0.key.rawValue < $1.key.rawValue }.map { address, place in
          DeviceWish(place.transport, service: place.service, adapter: place.adapter) {
            $0.bluetooth?.address == address
          }
        }
    }
  }
}
