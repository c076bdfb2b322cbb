// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// A device that is open: as a stream of bytes, or as a driver wants it that asks it in another way.
package enum OpenedDevice: Sendable {
  /// As bytes, by a session.
  case bytes(AccessorySession)
  /// As another channel, of which `make` makes an accessory.
  case other(
    any DeviceChannel, make: @Sendable (Profile?, any TimerClock) async throws(AccessoryError) -> any Accessory)

  package var channel: any Channel {
    switch self {
    case .bytes(let session): session.transport
    case .other(let channel, _): channel
    }
  }

  /// The session of its bytes; nil where it has none.
  package var session: AccessorySession? { if case .bytes(let session) = self { session } else { nil } }

  /// Closes the device, and returns when others can open it.
  package func close() async { await channel.close() }

  /// Waits until the device is lost, and throws why; returns when this program has closed it. Takes what it sends meanwhile, so only
  /// for devices with which no contact is made.
  package func ended() async throws(AccessoryError) {
    switch self {
    case .bytes(let session): for try await _ in session.input {}
    case .other(let channel, _): try await channel.ended()
    }
  }
}

/// How the devices of a driver are opened that wants no bytes.
struct DriverOpening: Sendable {
  /// What passes.
  let kind: ChannelKind
  private let driver: String
  private let device: String
  private let manner: String
  private let source: @Sendable (DeviceAddress) -> ChannelSource<OpenedDevice>?

  /// How the devices of this driver are opened as `Opened`, of which `make` makes an accessory.
  init<Opened: DeviceChannel>(_ driver: String, _ make: @escaping Driver.ChannelMaker<Opened>) {
    (self.driver, kind, device, manner) = (driver, Opened.kind, Opened.device, Opened.manner)
    source = { address in
      guard let source = Opened.source(of: address) else { return nil }
      return { request throws(AccessoryError) in
        let channel = try await source(request)
        return .other(channel) { profile, clock throws(AccessoryError) in try await make(channel, profile, clock) }
      }
    }
  }

  /// Whether such a device may be at this address.
  func fits(_ address: DeviceAddress) -> Bool { source(address) != nil }

  /// Opens the device. Throws `unsupported` where no such device can be, and the errors of opening the channel.
  func open(_ address: DeviceAddress, _ request: ChannelRequest) async throws(AccessoryError) -> OpenedDevice {
    guard let source = source(address) else { throw refusal(of: request.label) }
    return try await source(request)
  }

  /// The error for what isn't such a device.
  func refusal(of label: String) -> AccessoryError {
    AccessoryError(.unsupported, "\(label) is no \(device), as the driver \(driver) needs")
  }

  /// The error for bytes to such a device.
  func refusalOfBytes(to label: String) -> AccessoryError {
    AccessoryError(.unsupported, "\(label) \(manner): no bytes are written to it")
  }
}
