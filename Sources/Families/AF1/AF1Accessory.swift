// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// An accessory that speaks the AF1 reference command set: the `framed` driver.
public struct AF1Accessory: LinkedAccessory {
  /// The driver's name in profiles and in the announcements of simulators.
  public static let driverName = "framed"

  /// A message that the accessory sends without a request.
  public enum Event: Sendable, Hashable {
    /// Its battery changed.
    case battery(BatteryReading)
    /// Its status changed.
    case status(AccessoryStatus)
    /// An event that this driver doesn't know, or can't decode.
    case other(AF1Message)
  }

  /// The link, for requests and events that this driver has no function for.
  public let link: Link<AF1Exchange>

  /// Makes contact with the accessory at the other end of `session`. The accessory owns the session from now on.
  ///
  /// Throws `timedOut` when there is no answer, `disconnected`, `refused` or `unsupported`.
  public static func open(
    _ session: AccessorySession, options: AF1Exchange.Options = .init(), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> AF1Accessory {
    let rules = AF1Exchange(label: session.label, options: options)
    return AF1Accessory(link: try await Link.open(session, rules: rules, clock: clock))
  }

  /// Asks for its identity. Throws what `request` throws, and `badData`.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    AccessoryIdentity(try await ask(.identify, as: AF1Identity.self))
  }

  /// Asks for its status. Throws what `request` throws, and `badData`.
  public func status() async throws(AccessoryError) -> AccessoryStatus {
    try await reading(.status) { () throws(AccessoryError) in
      AccessoryStatus(try await ask(.status, as: AF1StatusReply.self, largestReply: 16))
    }
  }

  /// Asks for its battery. Throws what `request` throws, and `badData`.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    try await reading(.battery) { () throws(AccessoryError) in
      BatteryReading(try await ask(.battery, as: AF1BatteryReply.self, largestReply: 16))
    }
  }

  /// Asks for its battery. Returns the reading and the events that come after it, as `events` does: no event is older
  /// than the reading. Throws what `battery` throws.
  public func batteryAndEvents() async throws(AccessoryError) -> (
    reading: BatteryReading, events: EventStream<Event>
  ) {
    let (message, events) = try await link.requestAndEvents(AF1Request(.battery, largestReply: 16))
    let reading = BatteryReading(try decode(message, of: .battery, as: AF1BatteryReply.self))
    return (reading, events.converted { Self.event($0) })
  }

  /// Sends bytes and gets them back. Throws what `request` throws, and `badData` when other bytes come back.
  public func echo(_ bytes: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    let reply = try await link.request(AF1Request(.echo, payload: bytes, largestReply: bytes.count)).payload
    guard reply == bytes else {
      throw AccessoryError(.badData, "the echo of \(label) differs from the bytes that were sent")
    }
    return reply
  }

  /// Sends any command. A command that the specification doesn't define is repeated only if the accessory certainly
  /// hasn't restarted, because otherwise it could run twice.
  ///
  /// Throws `timedOut`, `refused`, `disconnected`, `cancelled`, `busy`.
  public func request(_ command: AF1Command, payload: [UInt8] = []) async throws(AccessoryError) -> [UInt8] {
    try await link.request(AF1Request(command, payload: payload)).payload
  }

  /// The accessory's unsolicited messages from now on. The stream throws the link's error when the accessory goes, and
  /// ends normally when the link is closed.
  public func events() -> EventStream<Event> {
    link.events().converted { Self.event($0) }
  }

  func ask<Reply: AF1Payload>(
    _ command: AF1Command, as type: Reply.Type, largestReply: Int? = nil
  ) async throws(AccessoryError) -> Reply {
    try decode(try await link.request(AF1Request(command, largestReply: largestReply)), of: command, as: type)
  }

  /// Sends a command with its arguments and reads its reply.
  func ask<Reply: AF1Payload>(
    _ command: AF1Command, _ arguments: some AF1Payload, as type: Reply.Type, largestReply: Int
  ) async throws(AccessoryError) -> Reply {
    let payload: [UInt8]
    do throws(AF1PayloadError) { payload = try arguments.encoded() } catch {
      throw AccessoryError(.misconfigured, "the request can't be sent to \(label): \(error)")
    }
    let request = AF1Request(command, payload: payload, largestReply: largestReply)
    return try decode(try await link.request(request), of: command, as: type)
  }

  private func decode<Reply: AF1Payload>(
    _ message: AF1Message, of command: AF1Command, as type: Reply.Type
  ) throws(AccessoryError) -> Reply {
    do throws(AF1PayloadError) {
      return try Reply(decoding: message.payload)
    } catch {
      throw AccessoryError(.badData, "\(label) sent an invalid reply to \(command.name): \(error)")
    }
  }

  static func event(_ message: AF1Message) -> Event {
    switch message.command {
    case .battery: (try? AF1BatteryReply(decoding: message.payload)).map { .battery(.init($0)) } ?? .other(message)
    case .status: (try? AF1StatusReply(decoding: message.payload)).map { .status(.init($0)) } ?? .other(message)
    default: .other(message)
    }
  }
}
