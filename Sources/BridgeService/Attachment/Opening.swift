// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// A device that is open, with everything that passes shown to a tap.
struct OpenDevice: Sendable {
  let session: AccessorySession

  /// Opens `device` by the way that is its path, as `profile` says. Throws what opening throws.
  static func open(
    _ device: Device, _ profile: Profile?, tap: TapHub, io: IOThread
  ) async throws(AccessoryError) -> OpenDevice {
    let settings = profile?.transport ?? TransportSettings()
    let transport: any Transport
    switch device.way {
    case .terminal:
      transport = try await DescriptorTransport.open(settings.terminal.configuration(path: device.path), io: io)
    case .usb: transport = try await USBTransport.open(settings.usb.configuration(path: device.path), io: io)
    case .network:
      guard let address = NetworkAddress(device.path) else {
        throw AccessoryError(.misconfigured, "\(device.path) is no place on the network")
      }
      transport = try await DescriptorTransport.open(address, io: io)
    }
    return OpenDevice(session: AccessorySession(SpyingTransport(transport, tap: tap)))
  }
}

/// An accessory that is attached: its device is open, and, where its protocol is known, contact is made.
struct OpenAccessory: Sendable {
  let device: OpenDevice
  /// Nil where no driver speaks its protocol.
  let accessory: (any Accessory)?

  /// Opens the device and makes contact. Throws what opening and making contact throw; then it is closed.
  static func open(
    _ device: Device, _ profile: Profile?, driver: Driver?, tap: TapHub, io: IOThread, clock: any TimerClock
  ) async throws(AccessoryError) -> OpenAccessory {
    let open = try await OpenDevice.open(device, profile, tap: tap, io: io)
    guard let driver else { return OpenAccessory(device: open, accessory: nil) }
    return OpenAccessory(
      device: open, accessory: try await driver.open(open.session, profile: profile, clock: clock))
  }

  func close() async {
    if let accessory { await accessory.close() }
    await device.session.close()
  }

  /// Calls `body` once when the device goes, whatever it was doing; not when it is closed here. `heard` is called with
  /// what the accessory tells of its own accord. Returns the task that listens.
  func follow(
    heard: @escaping @Sendable (AccessoryNews) async -> Void, ended: @escaping @Sendable (AccessoryError) async -> Void
  ) -> Task<Void, Never> {
    guard let accessory else { return followWithoutDriver(ended) }
    let news = accessory.news()
    return Task {
      do {
        for try await one in news { await heard(one) }
      } catch let error as AccessoryError {
        await ended(error)
      } catch {
        await ended(AccessoryError(.ioFailure, "\(error)"))
      }
    }
  }

  /// What a device says to nobody is passed over, so that its end is seen behind it.
  private func followWithoutDriver(_ ended: @escaping @Sendable (AccessoryError) async -> Void) -> Task<Void, Never> {
    let input = device.session.input
    return Task {
      do {
        for try await _ in input {}
      } catch {
        await ended(error as? AccessoryError ?? AccessoryError(.ioFailure, "\(error)"))
      }
    }
  }
}
