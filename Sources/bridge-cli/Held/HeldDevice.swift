// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput
import Console

/// An accessory that a service holds, with calls to that service.
struct HeldDevice: Sendable {
  private let held: ServiceEntry
  /// The name that the user typed, with the accessory's path.
  var label: String?

  /// The service's record of the accessory.
  var accessory: Bridge.Accessory { held.accessory }

  /// Whether the service can reach the accessory now.
  var isThere: Bool { accessory.isReachable }

  /// The path of the service's control socket.
  var socketPath: String { held.socketPath }

  /// The accessory's name in calls to the service. Its path, with the unit where a line has several, is unambiguous.
  var name: String { accessory.device.place }

  /// The calls on this accessory. Their errors use `label`.
  var calls: BridgeDevice { held.calls(label: label) }

  /// The accessory that `text` names, if a service holds it; nil when the command is to open the accessory itself, or
  /// to report why it can't. Throws `ResolutionError` when `text` fits several accessories, whether services hold them
  /// or not, and `busy` when the user asks for other line settings than those of the service.
  ///
  /// An absent accessory is waited for as `line` says.
  static func find(_ text: String?, _ line: LineOptions, asLine isLine: Bool = false) async throws -> HeldDevice? {
    if let limit = line.wait { _ = try await AccessoryWait.find(text, line, asLine: isLine, limit: limit) }
    return try await findNow(text, line, asLine: isLine)
  }

  /// Like `find`, without waiting.
  static func findNow(_ text: String?, _ line: LineOptions, asLine isLine: Bool) async throws -> HeldDevice? {
    guard var held = try await find(text, asLine: isLine) else { return nil }
    held.label = DeviceName(text).label(of: held.name)
    guard !line.saysSomething else {
      throw AccessoryError(
        .busy,
        "the service at \(held.socketPath) has \(held.name) open with its profile: to open it differently, detach it first: "
          + "bridge-cli attach --end \(held.name)")
    }
    return held
  }

  /// The accessory that `text` names among those that services have open or are going to open; with `all`, also among
  /// those that services have given up.
  static func find(_ text: String?, all: Bool = false, asLine isLine: Bool = false) async throws -> HeldDevice? {
    let name = DeviceName(text)
    return try await ServiceEntry.find(
      name, at: ServicePlace.all(), all: all, asLine: isLine, replyTimeout: .seconds(5)
    ) {
      try await KnownDevices.devices(for: name)
    }.map { HeldDevice(held: $0) }
  }

  // MARK: - Calls

  func battery() async throws -> Bridge.GetBattery.Reply {
    try requireDriver()
    return try await answer { () async throws(AccessoryError) in try await calls.battery() }
  }

  func values() async throws -> Bridge.GetValues.Reply {
    try requireDriver()
    return try await answer { () async throws(AccessoryError) in try await calls.values() }
  }

  func status() async throws -> Bridge.GetStatus.Reply {
    try requireDriver()
    return try await answer { () async throws(AccessoryError) in try await calls.status() }
  }

  /// Runs `body`, a request to the accessory, with a note on the terminal when the reply takes long.
  private func answer<Result: Sendable>(
    _ body: () async throws(AccessoryError) -> Result
  ) async throws(AccessoryError) -> Result {
    try await WaitingLine.during("waiting for \(label ?? name) to answer", body)
  }

  /// Throws `misconfigured` when the service holds the accessory without a driver. Opening it here would throw the
  /// same.
  func requireDriver() throws(AccessoryError) {
    guard accessory.driver == nil else { return }
    let path = SafeText.escape(name)
    throw AccessoryError(
      .misconfigured,
      "the service at \(socketPath) has \(label ?? path) open as bytes, and knows no driver for it: use bridge-cli attach --end \(path), "
        + "then bridge-cli attach \(path) --profile NAME, or --driver with one of \(KnownDrivers.library.summary)"
    )
  }

  /// The pause after which an unfinished frame is given up. The service doesn't report the line's speed here, so this
  /// is the value for a transport without a baud rate. It is right for all but the slowest lines.
  var silence: Duration { LineTiming.instant.silence }

  /// Prints that a reading is `age` milliseconds old, and which program has borrowed the accessory, where one has.
  /// Prints nothing for nil, a fresh reading.
  func noteAge(_ age: Int?) {
    guard let age else { return }
    let read = "this was read \(AgeView.text(age)) ago"
    guard accessory.state == .lent else { return Output.note(read) }
    let holder = accessory.holder.map { SafeText.escape($0) } ?? "another program"
    Output.note("the accessory is used by \(holder): \(read)")
  }
}
