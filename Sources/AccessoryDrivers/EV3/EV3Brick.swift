// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A LEGO EV3 brick: the `ev3` driver.
///
/// `ask` and `tell` take any command of `EV3Command`; a batch is many of them in one message.
public struct EV3Brick: Sendable {
  /// The name by which profiles and announcements ask for this driver.
  public static let driverName = "ev3"

  /// The link, for what goes beyond this driver.
  public let link: Link<EV3Exchange>

  /// The brick's name for people.
  public var label: String { link.label }

  /// Time that a command may take that waits for something to happen, unless said otherwise.
  public static let longestWait = Duration.seconds(60)

  /// Makes contact with the brick at the other end of `session`, which belongs to it from now on. Over the network the
  /// brick is greeted first, as it demands.
  ///
  /// Throws `timedOut` when nobody answers, `disconnected`, `refused`, and `badData` when the greeting is answered with
  /// something else.
  public static func open(
    _ session: AccessorySession, options: EV3Exchange.Options = .init(), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> EV3Brick {
    do throws(AccessoryError) {
      try await Driver.ev3.greet(over: session, clock: clock)
    } catch {
      await session.close()
      throw error
    }
    let rules = EV3Exchange(label: session.label, options: options)
    return EV3Brick(link: try await Link.open(session, rules: rules, clock: clock))
  }

  // MARK: - Commands

  /// Sends one command and waits until it has been run. Throws `refused` when the brick can't, `misconfigured` for an
  /// argument that can't be, `timedOut`, `disconnected`, `cancelled`, `busy`, `badData`.
  @discardableResult
  public func ask<Reply>(
    _ command: EV3Command<Reply>, timeout: Duration? = nil
  ) async throws(AccessoryError) -> Reply {
    var batch = EV3Batch()
    let place = try adding { () throws(EV3MessageError) in try batch.add(command) }
    return try await send(batch, timeout: timeout)[place]
  }

  /// Sends one command and doesn't wait for it; nobody tells whether the brick could run it. Returns when it is on its
  /// way. Throws what `ask` throws but `refused` and `badData`.
  public func tell(_ command: EV3Command<Void>) async throws(AccessoryError) {
    var batch = EV3Batch()
    try adding { () throws(EV3MessageError) in _ = try batch.add(command) }
    try await tell(batch)
  }

  /// Sends a batch and waits until all of it has been run. Throws what `ask` throws.
  public func send(_ batch: EV3Batch, timeout: Duration? = nil) async throws(AccessoryError) -> EV3BatchReply {
    let command = try adding { () throws(EV3MessageError) in try batch.command() }
    let patience = timeout ?? (batch.isWaiting ? Self.longestWait : nil)
    let reply = try await link.request(EV3Request(command, wantsReply: true, timeout: patience))
    do throws(EV3MessageError) {
      return try EV3BatchReply(decoding: reply?.body ?? [], of: batch)
    } catch {
      throw AccessoryError(.badData, "\(label) answers a direct command with something else: \(error)")
    }
  }

  /// Sends a batch and doesn't wait for it. Throws what `tell` throws.
  public func tell(_ batch: EV3Batch) async throws(AccessoryError) {
    let command = try adding { () throws(EV3MessageError) in try batch.command() }
    _ = try await link.request(EV3Request(command, wantsReply: false))
  }

  /// Sends a command about files and the system, and gives what it is answered; nil for those that have no reply.
  /// Throws `refused`, with what the brick says as `ev3Status`, and else what `ask` throws.
  public func system(_ command: EV3SystemCommand) async throws(AccessoryError) -> EV3SystemReply? {
    let request = try adding { () throws(EV3MessageError) in try EV3Request(command) }
    guard let message = try await link.request(request) else { return nil }
    do throws(EV3MessageError) {
      return try EV3SystemReply(decoding: message.body)
    } catch {
      throw AccessoryError(.badData, "\(label) answers a system command with something else: \(error)")
    }
  }

  func adding<Value>(_ body: () throws(EV3MessageError) -> Value) throws(AccessoryError) -> Value {
    do throws(EV3MessageError) {
      return try body()
    } catch {
      throw AccessoryError(.misconfigured, "that can't be sent to \(label): \(error)")
    }
  }

  /// Closes the link; returns when the device is free for others.
  public func close() async { await link.close() }
}
