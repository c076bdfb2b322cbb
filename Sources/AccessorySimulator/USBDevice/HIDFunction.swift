// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// The HID reports of a simulated USB device: a descriptor, and what its feature reports say when it is plugged in.
public struct SimulatedReports: Sendable, Hashable {
  /// The report descriptor (HID 1.11, 6.2.2).
  public var descriptor: [UInt8]
  /// The feature reports by their numbers, each with its number in front.
  public var features: [UInt8: [UInt8]]
  /// How much of the descriptor the device hands over: some cut it off.
  public var descriptorLimit: Int?
  /// Whether each feature report is refused once before it is answered.
  public var refusesFirst: Bool

  /// The message by which the accessory lets the device go silent, until the host resets it.
  package static let silence: [UInt8] = [0]
  /// The message to the accessory that a reset has ended the silence. No report begins so: its number isn't 0.
  package static let awake: [UInt8] = [0]

  /// Reports of these parts.
  public init(
    descriptor: [UInt8], features: [UInt8: [UInt8]], descriptorLimit: Int? = nil, refusesFirst: Bool = false
  ) {
    (self.descriptor, self.features) = (descriptor, features)
    (self.descriptorLimit, self.refusesFirst) = (descriptorLimit, refusesFirst)
  }
}

/// A HID interface with numbered reports: input reports by an interrupt endpoint, and feature reports by endpoint 0.
///
/// What the accessory sends are messages whose first byte says what they are: 1 an input report, 3 a feature report that the device has
/// from now on, 0 that it goes silent. What it receives are feature reports that the host has set, and that a reset has ended its silence.
struct HIDFunction: USBFunction {
  private var reports: SimulatedReports
  private var refused: Set<UInt8> = []
  private var idleRate: UInt8 = 0
  private var isSilent = false

  let input = SimulatedUSBEndpoint(address: 0x81, kind: .interrupt, maximumPacket: 64, interval: 4)
  // The host never uses it: a device must have one, and no interface lists it.
  let output = SimulatedUSBEndpoint(address: 0x01, kind: .interrupt, maximumPacket: 64, interval: 4)
  let style = PacketStyle.messages

  init(_ reports: SimulatedReports) { self.reports = reports }

  var reportDescriptor: [UInt8]? { Array(reports.descriptor.prefix(reports.descriptorLimit ?? .max)) }

  var interfaces: [SimulatedUSBInterface] {
    // The length is that of the whole descriptor, also where the device hands over less of it.
    let hid = USBDescriptor.hid(reportDescriptorLength: reports.descriptor.count)
    return [SimulatedUSBInterface(number: 0, code: USBClass(code: 3), endpoints: [input], classDescriptors: hid)]
  }

  /// Answers the class-specific requests (HID 1.11, 7.2). Type 3 is a feature report.
  mutating func control(_ setup: USBSetup, _ data: [UInt8]) -> ControlOutcome {
    guard setup.kind == .classSpecific, setup.index == 0 else { return .stall }
    if isSilent { return .silence }
    let number = UInt8(truncatingIfNeeded: setup.value)
    switch (setup.requestType, setup.request) {
    case (0xA1, 0x01) where setup.value >> 8 == 3:
      if reports.refusesFirst, refused.insert(number).inserted { return .stall }
      return reports.features[number].map { .done($0) } ?? .stall
    case (0xA1, 0x02): return .done([idleRate])
    case (0x21, 0x09) where setup.value >> 8 == 3:
      guard let known = reports.features[number], data.first == number, data.count <= known.count else { return .stall }
      reports.features[number] = data + known.dropFirst(data.count)
      return .received(data)
    case (0x21, 0x0A):
      idleRate = UInt8(setup.value >> 8)
      return .done()
    default: return .stall
    }
  }

  /// Sorts what the accessory sends.
  mutating func sent(_ message: [UInt8]) -> [UInt8] {
    if message.first == 0 { isSilent = true }
    let report = Array(message.dropFirst())
    if message.first == 3, let number = report.first {
      reports.features[number] = report
      return []
    }
    return isSilent ? [] : report
  }

  mutating func configured() -> [UInt8]? {
    defer { isSilent = false }
    return isSilent ? SimulatedReports.awake : nil
  }
}
