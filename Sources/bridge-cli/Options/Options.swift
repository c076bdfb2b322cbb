// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser

/// How the result is printed.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON, one document a line; errors too.")
  var json = false
}

/// A command that can print JSON.
protocol JSONCommand {
  var output: OutputOptions { get }
}

/// Which device.
struct DeviceArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("The accessory; may be left out when there is just one.", valueName: "device"))
  var text: String?
}

/// An accessory that a command has open.
struct Attachment {
  let device: Device
  let accessory: FramedAccessory
  let transport: any Transport

  /// Finds the device that `text` means and makes contact.
  static func open(_ text: String?, _ line: LineOptions) async throws -> Attachment {
    let (device, transport) = try await openTransport(text, line)
    let accessory = try await FramedAccessory.open(AccessorySession(transport))
    return Attachment(device: device, accessory: accessory, transport: transport)
  }

  /// Finds the device that `text` means, with the way in that is wanted as its path.
  static func find(_ text: String?, _ line: LineOptions) async throws -> Device {
    let found = try DeviceResolver.resolve(text, among: try await KnownDevices.devices(forOpening: text))
    return try line.way.choose(found, label: label(text, found))
  }

  /// Finds the device that `text` means and opens it.
  static func openTransport(_ text: String?, _ line: LineOptions) async throws -> (Device, any Transport) {
    let device = try await find(text, line)
    return (device, try await open(device, by: device.way, label: label(text, device), line))
  }

  /// Opens a device by one of its ways.
  private static func open(
    _ device: Device, by way: Device.Way, label: String, _ line: LineOptions
  ) async throws -> any Transport {
    switch way {
    case .terminal: try await DescriptorTransport.open(line.configuration(path: device.path, label: label))
    case .usb: try await USBTransport.open(line.way.configuration(path: device.path, label: label))
    }
  }

  /// A device is called in errors as the user called it, and otherwise by its path.
  private static func label(_ text: String?, _ device: Device) -> String {
    guard let text, text != device.path else { return device.path }
    return "\(text) (\(device.path))"
  }

  /// Makes contact, runs `body`, and closes whatever happens.
  static func with<Result: Sendable>(
    _ text: String?, _ line: LineOptions, _ body: (Attachment) async throws -> Result
  ) async throws -> Result {
    let attachment = try await open(text, line)
    do {
      let result = try await body(attachment)
      await attachment.accessory.close()
      return result
    } catch {
      await attachment.accessory.close()
      throw error
    }
  }
}
