// SPDX-License-Identifier: Apache-2.0

/// Endpoint 0 of a USB device: answers the standard requests (USB 2.0, 9.4).
struct ControlEndpoint: Sendable {
  private let descriptors: [UInt16: [UInt8]]
  private let interfaces: [UInt8]
  private let endpoints: Set<UInt8>
  private(set) var configuration: UInt8 = 0
  /// Endpoints that stall all transfers until the host clears them.
  private(set) var halted: Set<UInt8> = []

  /// A further effect of a request.
  enum Effect: Sendable, Hashable {
    case none
    /// The device was configured, so its state starts anew.
    case configured
    /// The halt of this endpoint was cleared.
    case cleared(UInt8)
  }

  init(_ identity: SimulatedUSBIdentity, _ function: any USBFunction) {
    let (code, interfaces) = (function.code, function.interfaces)
    var descriptors: [UInt16: [UInt8]] = [
      0x0100: USBDescriptor.device(
        code, vendor: identity.vendorID, product: identity.productID, release: identity.release),
      0x0200: USBDescriptor.configuration(interfaces),
      0x0300: USBDescriptor.languages,
      0x0301: USBDescriptor.string(identity.manufacturer),
      0x0302: USBDescriptor.string(identity.product),
      0x0303: USBDescriptor.string(identity.serialNumber),
    ]
    if identity.kind.speed == .high { descriptors[0x0600] = USBDescriptor.qualifier(code) }
    if let report = function.reportDescriptor {
      descriptors[0x2200] = report
      descriptors[0x2100] = interfaces.first?.classDescriptors
    }
    self.descriptors = descriptors
    self.interfaces = interfaces.map(\.number)
    endpoints = Set(interfaces.flatMap(\.endpoints).map(\.address))
  }

  mutating func halt(_ endpoint: UInt8) { halted.insert(endpoint) }

  /// Answers a standard request.
  mutating func answer(_ setup: USBSetup) -> (ControlOutcome, Effect) {
    let target = UInt8(truncatingIfNeeded: setup.index)
    switch (setup.requestType, setup.request) {
    case (0x80, 0) where setup.index == 0: return (.done([0, 0]), .none)
    case (0x81, 0) where interfaces.contains(target): return (.done([0, 0]), .none)
    case (0x82, 0) where isEndpoint(target): return (.done([halted.contains(target) ? 1 : 0, 0]), .none)
    case (0x02, 1) where setup.value == 0 && isEndpoint(target):
      halted.remove(target)
      return (.done(), .cleared(target))
    case (0x02, 3) where setup.value == 0 && endpoints.contains(target):
      halted.insert(target)
      return (.done(), .none)
    case (0x00, 5): return (.done(), .none)
    case (0x80, 6), (0x81, 6): return (descriptor(setup), .none)
    case (0x80, 8): return (.done([configuration]), .none)
    case (0x00, 9) where setup.value <= 1:
      configuration = UInt8(setup.value)
      halted = []
      return (.done(), .configured)
    case (0x81, 10) where interfaces.contains(target): return (.done([0]), .none)
    case (0x01, 11) where interfaces.contains(target) && setup.value == 0:
      halted = []
      return (.done(), .configured)
    default: return (.stall, .none)
    }
  }

  private func isEndpoint(_ address: UInt8) -> Bool { address & 0x7F == 0 || endpoints.contains(address) }

  private func descriptor(_ setup: USBSetup) -> ControlOutcome {
    descriptors[setup.value].map { .done($0) } ?? .stall
  }
}
