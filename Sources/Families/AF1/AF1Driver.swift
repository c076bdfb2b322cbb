// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// The driver of accessories that speak the AF1 reference command set.
  ///
  /// Raw bytes are harmless: AF1 is for gadgets of one's own. Their programs speak it in raw bytes, and its commands
  /// need no permission either.
  public static let af1: Driver = {
    var driver = native.shipping { [.af1, .af1HID] }
      .found(by: af1Probe, at: [.init(115_200, .little)])
      .numbered(.af1)
    driver.requests = .af1
    return driver
  }()

  private static let native = Driver(
    name: AF1Accessory.driverName, summary: "AF1", commands: AF1Accessory.commands,
    rawBytes: .harmless,
    preview: { calls, _ throws(AccessoryError) in try AF1Accessory.preview(of: calls) },
    previewRemark: AF1Accessory.previewRemark, frames: { AF1Words.reader },
    routing: { transport, profile, _ in .af1(label: transport.label, options: .init(profile)) }
  ) {
    session, profile, clock throws(AccessoryError) in
    try await AF1Accessory.open(session, options: .init(profile), clock: clock)
  }
}

extension NumberedRequests {
  /// AF1's commands.
  fileprivate static let af1 = NumberedRequests(
    protocolName: "AF1",
    named: [AF1Command.identify, .status, .battery, .echo].map { ($0.name.lowercased(), $0.rawValue) },
    name: { AF1Command(rawValue: $0).name.lowercased() },
    words: { number, payload in
      ["command", "number=\(number)"] + (payload.isEmpty ? [] : ["payload=" + Hexadecimal.string(payload)])
    }, reply: { payload, number in AF1Accessory.words(ofReply: payload, to: number) })
}

extension Profile {
  /// The profile for AF1 accessories that simulators announce or provide on USB.
  public static let af1 = shipped(PackageResources.framed_yaml, driver: AF1Accessory.driverName)
  /// The profile for AF1 accessories that speak it in HID reports.
  static let af1HID = shipped(PackageResources.framed_hid_yaml, driver: AF1Accessory.driverName)
}

extension AF1Accessory {
  /// What the accessory's reply to HELLO said: boot id, largest payload and window.
  public var protocolDetails: ProtocolDetails? {
    let exchange = link.exchange
    return ProtocolDetails(
      name: "AF1", bootID: exchange.hello?.bootID, largestPayload: exchange.largestPayload,
      window: Int(exchange.hello?.window ?? 1))
  }

  /// Sends any command by its number. Throws what `request(_:payload:)` with an `AF1Command` throws.
  public func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    try await request(AF1Command(rawValue: code), payload: payload)
  }

  /// Asks for its battery. Returns the reading and the news after it; no news is older than the reading. Throws what
  /// `battery` throws.
  public func batteryAndNews() async throws(AccessoryError) -> (
    reading: Read<BatteryReading>, news: EventStream<AccessoryNews>
  ) {
    let (reading, events) = try await batteryAndEvents()
    return (Read(reading, age: .zero), events.converted { AccessoryNews($0) })
  }

  /// The accessory's unsolicited messages from now on: `events`, in the terms that all drivers share.
  public func news() -> EventStream<AccessoryNews> { link.news { AccessoryNews(Self.event($0)) } }
}

extension AccessoryNews {
  fileprivate init(_ event: AF1Accessory.Event) {
    switch event {
    case .battery(let reading): self = .battery(reading)
    case .status(let status): self = .status(status)
    case .other: self = .other
    }
  }
}

extension AF1Exchange.Options {
  /// The protocol's defaults, with the pacing of the profile, if there is one.
  public init(_ profile: Profile?) {
    self.init()
    if let profile { pacing = profile.pacing }
  }
}
