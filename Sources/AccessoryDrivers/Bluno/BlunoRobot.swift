// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A robot with a Bluno board, by its USB port: the `bluno` driver.
///
/// It is told tasks, keys, speeds and texts, and answers none of them; what it says by itself are `texts`. The board's
/// radio has commands of its own, in AT mode, in which the robot hears nothing.
public actor BlunoRobot {
  /// The name by which profiles and announcements ask for this driver.
  public static let driverName = "bluno"

  /// The link, for what goes beyond this driver.
  public nonisolated let link: Link<LineExchange>
  private nonisolated let clock: any TimerClock
  /// Time for an answer in AT mode.
  private let timeout: Duration
  private var isInATMode = false

  /// The robot's name for people.
  public nonisolated var label: String { link.label }

  /// How often AT is tried until the radio answers.
  private static let tries = 3

  private init(_ link: Link<LineExchange>, timeout: Duration, clock: any TimerClock) {
    self.link = link
    self.timeout = timeout
    self.clock = clock
  }

  /// Takes the robot at the other end of `session`, which belongs to it from now on. Nothing is sent: whether somebody is
  /// there isn't known. `timeout` is the time for an answer in AT mode.
  ///
  /// Throws `disconnected`.
  public static func open(
    _ session: AccessorySession, timeout: Duration = .seconds(1), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> BlunoRobot {
    let link = try await Link.open(session, rules: LineExchange(label: session.label), clock: clock)
    return BlunoRobot(link, timeout: timeout, clock: clock)
  }

  // MARK: - The robot

  /// Sends a message as the user's remote control does; returns when it is on its way. Leaves AT mode first.
  ///
  /// Throws `misconfigured` for what can't be sent, `busy`, `disconnected`.
  public func send(_ message: BlunoMessage, by remote: BlunoRemote = BlunoRemote()) async throws(AccessoryError) {
    let bytes = try checking { () throws(BlunoError) in try remote.bytes(of: message) }
    try await leaveATMode()
    _ = try await link.request(LineRequest(bytes, name: "a message"))
  }

  /// What the robot says from now on, a line or what comes without a pause; what is empty or a line feed alone is left
  /// out. Escape it before showing it. Throws the link's error when it goes, and ends normally when it is closed here.
  public nonisolated func texts() -> EventStream<[UInt8]> {
    link.events().converted { BlunoMessage.isShown($0) ? $0 : nil }
  }

  // MARK: - The radio

  /// Sends a command to the board's radio and gives its answer. Enters AT mode first, and stays in it until the robot is
  /// sent something, or `leaveATMode`.
  ///
  /// Throws `timedOut` when the radio doesn't answer, `misconfigured` for an argument that can't be, `busy`,
  /// `disconnected`.
  @discardableResult
  public func ask(_ command: BlunoCommand) async throws(AccessoryError) -> BlunoReply {
    let bytes = try checking { () throws(BlunoError) in try command.encoded() }
    switch command {
    case .toggle: throw AccessoryError(.misconfigured, "+++ is no command: AT mode is entered and left by itself")
    case .exit:
      try await leaveATMode()
      return .ok
    default: break
    }
    try await enterATMode()
    let name = command == .restart ? "AT+RESTART" : String(decoding: bytes.dropLast(2), as: UTF8.self)
    let answer = try await link.request(LineRequest(bytes, name: name, timeout: timeout)) ?? []
    if command == .restart { isInATMode = false }
    return BlunoReply(decoding: answer)
  }

  /// The value of a parameter of the radio. Throws what `ask` throws, and `badData`.
  public func text(of parameter: BlunoParameter) async throws(AccessoryError) -> String {
    guard case .value(let text) = try await ask(.ask(parameter)) else {
      throw AccessoryError(.badData, "\(label) answers AT+\(parameter.rawValue)=? with something else")
    }
    return text
  }

  /// Changes a parameter of the radio. Throws what `ask` throws, and `refused`.
  public func set(_ parameter: BlunoParameter, to value: String) async throws(AccessoryError) {
    let reply = try await ask(.set(parameter, value))
    guard reply == .ok else { throw AccessoryError(.refused, "\(label) refuses AT+\(parameter.rawValue)=") }
  }

  private func enterATMode() async throws(AccessoryError) {
    if isInATMode { return }
    let toggle = try checking { () throws(BlunoError) in try BlunoCommand.toggle.encoded() }
    let attention = try checking { () throws(BlunoError) in try BlunoCommand.attention.encoded() }
    var isThere = false
    do throws(AccessoryError) {
      _ = try await link.request(
        LineRequest(toggle, name: "+++", timeout: timeout) { BlunoReply(decoding: $0) == .enteredATMode })
    } catch {
      // Some say nothing to that; and who was in AT mode has left it now.
      guard error.kind == .timedOut else { throw error }
    }
    for count in 1...Self.tries where !isThere {
      do throws(AccessoryError) {
        _ = try await link.request(
          LineRequest(attention, name: "AT", timeout: timeout) { BlunoReply(decoding: $0) == .ok })
        isThere = true
      } catch {
        guard error.kind == .timedOut else { throw error }
        guard count < Self.tries else {
          throw AccessoryError(.timedOut, "\(label) doesn't enter AT mode: is it a Bluno, and is this its USB port?")
        }
        if count == 1 { _ = try await link.request(LineRequest(toggle, name: "+++")) }
      }
    }
    isInATMode = true
  }

  /// Leaves AT mode, unless it isn't in it: the robot hears what is sent again. Throws what `ask` throws.
  public func leaveATMode() async throws(AccessoryError) {
    guard isInATMode else { return }
    isInATMode = false
    let exit = try checking { () throws(BlunoError) in try BlunoCommand.exit.encoded() }
    do throws(AccessoryError) {
      _ = try await link.request(
        LineRequest(exit, name: "AT+EXIT", timeout: timeout) { BlunoReply(decoding: $0) == .ok })
    } catch {
      guard error.kind == .timedOut else { throw error }
      // Firmware before 1.8 doesn't know AT+EXIT.
      let toggle = try checking { () throws(BlunoError) in try BlunoCommand.toggle.encoded() }
      _ = try await link.request(LineRequest(toggle, name: "+++"))
    }
  }

  private func checking<Value>(_ body: () throws(BlunoError) -> Value) throws(AccessoryError) -> Value {
    do throws(BlunoError) {
      return try body()
    } catch {
      throw AccessoryError(.misconfigured, "that can't be sent to \(label): \(error)")
    }
  }

  /// Leaves AT mode, as far as that is possible, and closes the link; returns when the device is free for others.
  public func close() async {
    // By a task of its own: one that is cancelled sends nothing any more.
    await Task { try? await leaveATMode() }.value
    await link.close()
  }
}
