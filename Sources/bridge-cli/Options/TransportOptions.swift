// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput

/// The transport to the device, and its USB endpoints.
struct TransportOptions: PlainOptions {
  /// The heading of these options in help.
  static let title = "Transport options"

  @Option(
    help: .rare(
      "transport",
      "The transport of an accessory that has two: tty, its serial port (the default), usb, its endpoints, hidraw or hid-text."
    ))
  var transport: TransportKind?
  @Option(help: .rare("number", "USB: the interface; default: the first vendor-specific one that fits."))
  var interface: UInt8?
  @Option(
    help: .rare("pair", "USB: the endpoints, IN and OUT, like 0x81,0x02; default: the interface's first."),
    transform: EndpointsArgument.read)
  var endpoints: EndpointsArgument?
  @Option(help: .rare("number", "USB: the interface's alternate setting.")) var alternate: UInt8?
  @Option(
    help: .rare(
      "shape",
      "USB: a stream, one message per transfer, or messages padded to a packet; default: by the interface's class."))
  var shape: USBTransportConfiguration.Shape?
  @Option(
    help: .rare(
      "uuids",
      "Bluetooth: the UUIDs of the service and of the characteristics to write and to listen to, SERVICE,WRITE,NOTIFY."),
    transform: GATTArgument.read)
  var gatt: GATTArgument?
  @Option(
    help: .rare("file", "ESPHome: the file with the node's key and nothing else; default: the profile's."),
    completion: .file())
  var keyFile: String?

  mutating func setDefaults() {
    (transport, interface, endpoints, alternate, shape, gatt, keyFile) = (nil, nil, nil, nil, nil, nil, nil)
  }

  /// Whether the user gives an option that replaces a setting of the profile.
  var saysSomething: Bool { wanted != nil || alternate != nil || shape != nil || gatt != nil || keyFile != nil }

  /// The transport that the user asks for. An interface or endpoints imply USB.
  var wanted: TransportKind? { transport ?? (interface == nil && endpoints == nil ? nil : .usb) }

  /// The device with the chosen transport. Throws `misconfigured` when the device doesn't have it.
  func choose(_ device: Device, label: String) throws(AccessoryError) -> Device {
    guard let transport = wanted else { return device }
    if let chosen = device.choosing(transport) { return chosen }
    let transports = device.transports.map(\.rawValue).joined(separator: ", ")
    throw AccessoryError(
      .misconfigured,
      "\(label) can't be opened with --transport \(transport.rawValue); it has "
        + (transports.isEmpty ? "none" : transports)
    )
  }

  /// The settings of `profile`, with the user's options in their place. An interface or endpoints replace the profile's
  /// interface, alternate setting and endpoints together.
  func settings(_ profile: Profile?) -> USBSettings {
    var settings = profile?.transport.usb ?? USBSettings()
    if interface != nil || endpoints != nil {
      settings.interface = interface
      settings.alternateSetting = nil
      settings.inEndpoint = endpoints?.input
      settings.outEndpoint = endpoints?.output
    }
    if let alternate { settings.alternateSetting = alternate }
    if let shape { settings.shape = shape }
    return settings
  }
}

/// The characteristics of a Bluetooth device on the command line: "ffe0,ffe1,ffe1".
struct GATTArgument: FormArgument {
  static let form = "the UUIDs of a service and of the characteristics to write and to listen to, like ffe0,ffe1,ffe1"
  let settings: GATTSettings

  init?(argument: String) {
    guard let settings = GATTSettings(argument) else { return nil }
    self.settings = settings
  }
}

extension TransportKind: ExpressibleByArgument {}
extension USBTransportConfiguration.Shape: ExpressibleByArgument {}

/// A pair of endpoint addresses on the command line: "0x81,0x02".
struct EndpointsArgument: FormArgument {
  static let form = "an IN and an OUT endpoint address, like 0x81,0x02"
  let input: UInt8
  let output: UInt8

  init?(argument: String) {
    let addresses = argument.split(separator: ",", omittingEmptySubsequences: false).map { text in
      text.hasPrefix("0x") ? UInt8(text.dropFirst(2), radix: 16) : UInt8(text)
    }
    guard addresses.count == 2, let input = addresses[0], let output = addresses[1], input & 0x80 != 0,
      output & 0x80 == 0
    else { return nil }
    self.input = input
    self.output = output
  }
}
