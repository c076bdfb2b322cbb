// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The pair of endpoints that a configuration asks for, found in a device's descriptors.
struct USBSelection: Sendable, Hashable {
  var interface: UInt8
  var alternateSetting: UInt8
  /// The interface's class.
  var function: USBClass
  var input: USBEndpointDescription
  var output: USBEndpointDescription

  /// Finds the pair. Throws `misconfigured` or `unsupported`; the message lists what the device has instead.
  init(
    _ wanted: USBTransportConfiguration, in configuration: USBConfigurationDescription
  ) throws(AccessoryError) {
    let candidates = configuration.interfaces.filter { interface in
      if let number = wanted.interface { return interface.number == number }
      return interface.function.code == USBClass.vendorSpecific
        || (wanted.inEndpoint != nil && interface.endpoints.contains { $0.address == wanted.inEndpoint })
    }
    .filter { wanted.alternateSetting == nil || $0.alternateSetting == wanted.alternateSetting }
    for interface in candidates {
      guard let input = Self.endpoint(wanted.inEndpoint, .in, of: interface),
        let output = Self.endpoint(wanted.outEndpoint, .out, of: interface)
      else { continue }
      self.interface = interface.number
      self.alternateSetting = interface.alternateSetting
      self.function = interface.function
      self.input = input
      self.output = output
      return
    }
    throw Self.nothingFits(wanted, configuration, candidates)
  }

  private static func endpoint(
    _ address: UInt8?, _ direction: USBEndpointDescription.Direction, of interface: USBInterfaceDescription
  ) -> USBEndpointDescription? {
    guard let address else { return interface.endpoint(direction) }
    return interface.endpoints.first {
      $0.address == address && $0.direction == direction && ($0.transfer == .bulk || $0.transfer == .interrupt)
        && $0.maxPacketSize > 0
    }
  }

  private static func nothingFits(
    _ wanted: USBTransportConfiguration, _ configuration: USBConfigurationDescription,
    _ candidates: [USBInterfaceDescription]
  ) -> AccessoryError {
    let pairs = configuration.interfaces.filter(\.hasPair).map { "\($0.number) (\($0.function.name ?? "unnamed"))" }
    let have =
      pairs.isEmpty
      ? "none of its interfaces has a bulk or interrupt endpoint in both directions"
      : "choose one of these interfaces, which have an IN and an OUT endpoint: \(pairs.joined(separator: ", "))"
    if let number = wanted.interface {
      let what =
        candidates.isEmpty
        ? "has no interface \(number)" : "has no such pair of endpoints in interface \(number)"
      return AccessoryError(.misconfigured, "\(wanted.label) \(what); \(have)")
    }
    return AccessoryError(
      pairs.isEmpty ? .unsupported : .misconfigured,
      "\(wanted.label) has no vendor-specific interface with an IN and an OUT endpoint; \(have)")
  }
}
