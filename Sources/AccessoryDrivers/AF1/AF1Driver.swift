// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// Accessories that speak the AF1 reference command set.
  public static let af1 = Driver(
    name: AF1Accessory.driverName, summary: "AF1", commands: AF1Accessory.commands,
    preview: { calls, _ throws(AccessoryError) in try AF1Accessory.preview(of: calls) },
    previewRemark: AF1Accessory.previewRemark, frames: { AF1Words.reader }
  ) {
    session, profile, clock throws(AccessoryError) in
    try await AF1Accessory.open(session, options: .init(profile), clock: clock)
  }
}

extension AF1Accessory: Accessory {
  /// What its reply to HELLO has told.
  public var protocolDetails: ProtocolDetails? {
    let exchange = link.exchange
    return ProtocolDetails(
      name: "AF1", bootID: exchange.hello?.bootID, largestPayload: exchange.largestPayload,
      window: Int(exchange.hello?.window ?? 1))
  }

  /// Sends any command, by its number. Throws what `request(_:payload:)` of a command throws.
  public func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    try await request(AF1Command(rawValue: code), payload: payload)
  }

  /// Asks for its battery; none of the news is older than the answer. Throws what `battery` throws.
  public func batteryAndNews() async throws(AccessoryError) -> (
    reading: BatteryReading, news: EventStream<AccessoryNews>
  ) {
    let (reading, events) = try await batteryAndEvents()
    return (reading, events.converted { AccessoryNews($0) })
  }

  /// What the accessory tells of its own accord, from now on: `events` in the terms that all kinds share.
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
  /// The protocol's defaults, with what a profile says of pacing.
  public init(_ profile: Profile?) {
    self.init()
    if let profile { pacing = profile.pacing }
  }
}
