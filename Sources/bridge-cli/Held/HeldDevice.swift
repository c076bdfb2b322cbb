// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput
import Console

/// An accessory that a service holds, and the way to ask it.
struct HeldDevice: Sendable {
  private let held: HeldAccessory
  /// As the user called it.
  var label: String?

  /// As the service tells of it.
  var accessory: Bridge.Accessory { held.accessory }

  /// Whether the service has made contact with it.
  var isThere: Bool { [.attached, .lent].contains(accessory.state) }

  /// Where the service answers.
  var place: String { held.place }

  /// What to call it in calls: its path, with its unit where several are on the line, is nobody else's.
  var name: String { accessory.device.place }

  /// The same for calls; in errors it is called as the user called it.
  var calls: BridgeDevice { held.calls(label: label) }

  /// The accessory that `text` means, if a service holds it; nil when a command is to open it itself, or to say why
  /// not. Throws `ResolutionError` when `text` fits several accessories, held and others, and `busy` when the user wants
  /// another line than the service has set.
  ///
  /// An accessory that isn't there is waited for as `line` says.
  static func find(_ text: String?, _ line: LineOptions, asLine isLine: Bool = false) async throws -> HeldDevice? {
    guard let limit = line.wait else { return try await findNow(text, line, asLine: isLine) }
    return try await AccessoryWait.find(text, line, asLine: isLine, limit: limit)
  }

  /// The same, without waiting.
  static func findNow(_ text: String?, _ line: LineOptions, asLine isLine: Bool) async throws -> HeldDevice? {
    guard var held = try await find(text, asLine: isLine) else { return nil }
    held.label = OpenedAccessory.label(text, held.name)
    guard !line.saysSomething else {
      throw AccessoryError(
        .busy,
        "the service at \(held.place) has \(held.name) open by its profile: to open it otherwise, let it go first: "
          + "bridge-cli detach \(held.name)")
    }
    return held
  }

  /// The accessory that `text` means, of those that services have open or are about to; with `all`, also of those that they
  /// have given up.
  static func find(_ text: String?, all: Bool = false, asLine isLine: Bool = false) async throws -> HeldDevice? {
    try await HeldAccessory.find(text, at: ServicePlace.all(), all: all, asLine: isLine, patience: .seconds(5)) {
      try await KnownDevices.devices(forOpening: text)
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

  /// Runs `body`, which asks the accessory for something: a person sees what takes long.
  private func answer<Result: Sendable>(
    _ body: () async throws(AccessoryError) -> Result
  ) async throws(AccessoryError) -> Result {
    try await WaitingLine.during("waiting for \(label ?? name) to answer", body)
  }

  /// Throws `misconfigured`, as where the device is opened here, when the service holds it as bytes.
  func requireDriver() throws(AccessoryError) {
    guard accessory.driver == nil else { return }
    let path = SafeText.escape(name)
    throw AccessoryError(
      .misconfigured,
      "the service at \(place) has \(label ?? path) open as bytes, and knows no driver for it: let it go with bridge-cli "
        + "detach \(path); then say bridge-cli attach \(path) --profile NAME, or --driver with one of \(KnownDrivers.library.summary)"
    )
  }

  /// The pause after which an unfinished frame no longer holds up what follows it. The service doesn't tell the line's
  /// speed here; that of no line is right for all but the slowest.
  var silence: Duration { LineTiming.instant.silence }

  /// Says that a reading is an old one, because another program has the accessory, or it can't be asked.
  func noteAge(_ age: Int?) {
    guard let age else { return }
    let read = "this was read \(AgeView.text(age)) ago"
    guard accessory.state == .lent else { return Output.note(read) }
    let holder = accessory.holder.map { SafeText.escape($0) } ?? "another program"
    Output.note("\(holder) has the accessory: \(read)")
  }
}
