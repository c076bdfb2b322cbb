// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

// Conversions of AF1 messages to the types that all drivers share.

extension AccessoryStatus {
  /// The status in an AF1 accessory's reply or event. Fault code 0 means no fault.
  public init(_ reply: AF1StatusReply) {
    self.init(
      state: reply.state, faultCode: reply.faultCode == 0 ? nil : reply.faultCode,
      progress: reply.progress.map(Int.init), reportsFaults: true)
  }
}

extension AccessoryIdentity {
  /// The identity in an AF1 accessory's reply.
  public init(_ reply: AF1Identity) {
    self.init(
      manufacturer: reply.manufacturer, name: reply.name, model: reply.model, serialNumber: reply.serialNumber,
      firmwareRevision: reply.firmwareVersion, hardwareRevision: reply.hardwareVersion)
  }
}

extension BatteryReading {
  /// The reading in an AF1 accessory's reply or event.
  public init(_ reply: AF1BatteryReply) {
    let level: Level =
      switch reply.level {
      case .low: .low
      case .normal: .normal
      case .high: .high
      case .notInitialized: .unknown
      }
    let charge: Charge =
      switch reply.charge {
      case .unknown: .unknown
      case .charging: .charging
      case .discharging: .discharging
      case .full: .full
      }
    self.init(
      percent: reply.percent.map(Int.init), level: level, millivolts: reply.millivolts.map(Int.init), charge: charge)
  }
}

extension AF1Accessory {
  /// Asks for its status and returns its numbers as values, together with those from the reply to HELLO. Throws what `status` throws.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    let reply = try await ask(.status, as: AF1StatusReply.self, largestReply: 16)
    let state: AccessoryValue.Content? =
      reply.state == .notInitialized ? nil : .choice(word: reply.state.word, number: Int(reply.state.rawValue))
    let (hello, exchange) = (link.exchange.hello, link.exchange)
    return [
      AccessoryValue("state", quantity: .state, content: state),
      AccessoryValue("fault_code", quantity: .problem, number: Double(reply.faultCode)),
      AccessoryValue("progress", quantity: .ratio, unit: .percent, number: reply.progress.map(Double.init)),
      AccessoryValue("boot_id", quantity: .identity, content: hello.map { .text(Hexadecimal.string($0.bootID)) }),
      AccessoryValue("largest_payload", quantity: .dataSize, unit: .byte, number: Double(exchange.largestPayload)),
      AccessoryValue("window", quantity: .count, number: hello.map { Double($0.window) }),
    ]
  }
}
