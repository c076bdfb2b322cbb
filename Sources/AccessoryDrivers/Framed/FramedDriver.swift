// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

extension Driver {
  /// Accessories that speak the AF1 reference command set.
  public static let framed = Driver(
    name: FramedAccessory.driverName, summary: "AF1", commands: FramedAccessory.commands
  ) {
    session, profile, clock throws(AccessoryError) in
    try await FramedAccessory.open(session, options: .init(profile), clock: clock)
  }
}

extension FramedAccessory: Accessory {
  /// What the accessory tells of its own accord, from now on: `events` in the terms that all kinds share.
  public func news() -> AsyncThrowingStream<AccessoryNews, any Error> {
    let events = link.events()
    return AsyncThrowingStream {
      var iterator = events.makeAsyncIterator()
      return try await iterator.next().map { AccessoryNews(Self.event($0)) }
    }
  }
}

extension AccessoryNews {
  fileprivate init(_ event: FramedAccessory.Event) {
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
