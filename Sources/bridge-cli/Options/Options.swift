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

/// How a device is opened.
struct LineOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Bits a second, any number the port can do.", valueName: "rate"))
  var baud: UInt32 = 115_200

  func validate() throws {
    guard baud > 0 else { throw ValidationError("a baud rate is at least 1, for example 9600 or 115200") }
  }
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

  /// Finds the device that `text` means and makes contact.
  static func open(_ text: String?, _ line: LineOptions) async throws -> Attachment {
    let device = try DeviceResolver.resolve(text, among: await SimulatorSource().devices())
    let configuration = TerminalConfiguration(path: device.path, baudRate: line.baud, label: label(text, device))
    let session = try await AccessorySession.open(configuration)
    return Attachment(device: device, accessory: try await FramedAccessory.open(session))
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
