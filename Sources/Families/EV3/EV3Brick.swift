// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A LEGO EV3 brick: the `ev3` driver.
///
/// `ask` and `tell` send a command of `EV3Command`; a batch sends several commands in one message.
public struct EV3Brick: LinkedAccessory {
  /// The driver's name in profiles and in the announcements of simulators.
  public static let driverName = "ev3"

  /// The link, for requests and events that this driver has no function for.
  public let link: Link<EV3Exchange>

  /// The default timeout of a batch that waits for something, such as a key press.
  public static let longestWait = Duration.seconds(60)

  /// Makes contact with the brick at the other end of `session`. The brick owns the session from now on. Over the
  /// network it is greeted first, because it answers nothing before that.
  ///
  /// Throws `timedOut` when there is no answer, `disconnected`, `refused`, and `badData` when the reply to the greeting
  /// isn't that of a brick.
  public static func open(
    _ session: AccessorySession, options: EV3Exchange.Options = .init(), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> EV3Brick {
    try await attempt { () throws(AccessoryError) in
      try await Driver.ev3.greet(over: session, clock: clock)
    } onFailure: { _ in
      await session.close()
    }
    let rules = EV3Exchange(label: session.label, options: options)
    return EV3Brick(link: try await Link.open(session, rules: rules, clock: clock))
  }

  // MARK: - Commands

  /// Sends one command and waits until the brick has run it. Throws `refused` when the brick can't run it,
  /// `misconfigured` for an argument that isn't valid, `timedOut`, `disconnected`, `cancelled`, `busy`, `badData`.
  @discardableResult
  public func ask<Reply>(
    _ command: EV3Command<Reply>, timeout: Duration? = nil
  ) async throws(AccessoryError) -> Reply {
    var batch = EV3Batch()
    let place = try adding { () throws(EV3MessageError) in try batch.add(command) }
    return try await send(batch, timeout: timeout)[place]
  }

  /// Sends one command without waiting for a reply, so it isn't known whether the brick could run it. Returns when the
  /// command was written. Throws what `ask` throws, except `refused` and `badData`.
  public func tell(_ command: EV3Command<Void>) async throws(AccessoryError) {
    var batch = EV3Batch()
    try adding { () throws(EV3MessageError) in _ = try batch.add(command) }
    try await tell(batch)
  }

  /// Sends a batch and waits until the brick has run all of it. Throws what `ask` throws.
  public func send(_ batch: EV3Batch, timeout: Duration? = nil) async throws(AccessoryError) -> EV3BatchReply {
    let command = try adding { () throws(EV3MessageError) in try batch.command() }
    let replyTimeout = timeout ?? (batch.isWaiting ? Self.longestWait : nil)
    let reply = try await link.request(EV3Request(command, wantsReply: true, timeout: replyTimeout))
    do throws(EV3MessageError) {
      return try EV3BatchReply(decoding: reply?.body ?? [], of: batch)
    } catch {
      throw AccessoryError(.badData, "\(label) sent an invalid reply to a direct command: \(error)")
    }
  }

  /// Sends a batch without waiting for a reply. Throws what `tell` with a command throws.
  public func tell(_ batch: EV3Batch) async throws(AccessoryError) {
    let command = try adding { () throws(EV3MessageError) in try batch.command() }
    _ = try await link.request(EV3Request(command, wantsReply: false))
  }

  /// Sends a system command, for files for example, and returns its reply; nil for commands that have none. Throws
  /// `refused`, with the brick's status as `ev3Status`, and what `ask` throws.
  public func system(_ command: EV3SystemCommand) async throws(AccessoryError) -> EV3SystemReply? {
    let request = try adding { () throws(EV3MessageError) in try EV3Request(command) }
    guard let message = try await link.request(request) else { return nil }
    do throws(EV3MessageError) {
      return try EV3SystemReply(decoding: message.body)
    } catch {
      throw AccessoryError(.badData, "\(label) sent an invalid reply to a system command: \(error)")
    }
  }

  func adding<Value>(_ body: () throws(EV3MessageError) -> Value) throws(AccessoryError) -> Value {
    do throws(EV3MessageError) {
      return try body()
    } catch {
      throw AccessoryError(.misconfigured, "the command can't be sent to \(label): \(error)")
    }
  }
}
