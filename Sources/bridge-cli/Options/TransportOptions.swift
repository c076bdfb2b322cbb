// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ArgumentParser

/// Which transport leads to the device, and to which endpoints.
struct TransportOptions: ParsableArguments {
  /// The heading of these in help.
  static let title = "Transport options"

  @Option(
    help: ArgumentHelp(
      "The transport, where the accessory has two: its terminal, tty (as usual), or its USB endpoints, usb.",
      valueName: "kind"))
  var transport: TransportKind?
  @Option(help: ArgumentHelp("USB: the interface; else the first vendor-specific one that fits.", valueName: "number"))
  var interface: UInt8?
  @Option(
    help: ArgumentHelp(
      "USB: the endpoints, IN and OUT, like 0x81,0x02; else the interface's first.", valueName: "pair"),
    transform: EndpointsArgument.read)
  var endpoints: EndpointsArgument?
  @Option(help: ArgumentHelp("USB: the interface's alternate setting.", valueName: "number"))
  var alternate: UInt8?
  @Option(
    help: ArgumentHelp(
      "USB: a stream, messages of a transfer each, or messages padded to a packet; else as the interface's class wants.",
      valueName: "shape"))
  var shape: USBTransportConfiguration.Shape?

  /// Whether the user wants anything otherwise than a profile says.
  var saysSomething: Bool { wanted != nil || alternate != nil || shape != nil }

  /// The transport that the user asks for; who names endpoints means USB.
  var wanted: TransportKind? { transport ?? (interface == nil && endpoints == nil ? nil : .usb) }

  /// The device, opened by the transport that is wanted. Throws `misconfigured` when it hasn't that.
  func choose(_ device: Device, label: String) throws(AccessoryError) -> Device {
    guard let transport = wanted else { return device }
    if let chosen = device.choosing(transport) { return chosen }
    let transports = device.transports.map(\.rawValue).joined(separator: ", ")
    throw AccessoryError(
      .misconfigured,
      "\(label) can't be opened by --transport \(transport.rawValue); it has \(transports.isEmpty ? "none" : transports)"
    )
  }

  /// The settings of `profile`, but for what the user says otherwise. An interface or endpoints that the user names
  /// take the place of all that the profile says of them: they belong together.
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

extension TransportKind: ExpressibleByArgument {}
extension USBTransportConfiguration.Shape: ExpressibleByArgument {}

/// A pair of endpoint addresses on the command line: "0x81,0x02".
struct EndpointsArgument: FormArgument {
  static let form = "an IN and an OUT endpoint address, like 0x81,0x02,"
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
