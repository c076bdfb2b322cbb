// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import CommandOutput

/// An accessory that a command follows.
protocol Followed: Sendable {
  var device: Device { get }
  /// Where the service is that has it; nil when it is open here.
  var lender: String? { get }
  func close() async
}

/// Follows an accessory until the command is interrupted, also when it goes and comes back.
struct Following {
  /// As the user calls it.
  let name: String?
  let line: LineOptions
  /// Whether the bytes of its line are meant.
  var isLine = false
  /// Whether it ends with an error when the accessory goes.
  let once: Bool
  let json: Bool

  /// Opens the accessory by `open` and follows it by `follow`, again whenever it comes back. `follow` throws `disconnected`
  /// when it goes.
  func run<Opened: Followed>(
    open: (String?, LineOptions) async throws -> Opened, follow: (Opened) async throws -> Void
  ) async throws {
    var opened = try await open(name, line)
    var isBack = false
    while true {
      let start = IOThread.shared.now
      let failure: any Error
      do {
        try await follow(opened)
        return await opened.close()
      } catch { failure = error }
      await opened.close()
      guard !once, !Task.isCancelled, isPassing(failure, isBack: isBack) else { throw failure }
      tell(.disconnected, opened.device)
      let device = opened.device
      let wait = WaitingLine.shared.begin("waiting for \(device.id) to come back")
      defer { WaitingLine.shared.end(wait) }
      // One that goes as soon as it comes is not opened without a pause.
      await IOThread.shared.sleep(for: max(.zero, start + AccessoryReturn.pause - IOThread.shared.now))
      guard let next = await back(opened, open) else { throw CancellationError() }
      (opened, isBack) = (next, true)
      tell(.connected, opened.device)
    }
  }

  /// Whether the accessory is worth waiting for. One that has just come back may not be ready yet.
  private func isPassing(_ error: any Error, isBack: Bool) -> Bool {
    guard let kind = (error as? AccessoryError)?.kind else { return false }
    return kind == .disconnected || isBack && [.timedOut, .badData, .ioFailure].contains(kind)
  }

  private func back<Opened: Followed>(
    _ opened: Opened, _ open: (String?, LineOptions) async throws -> Opened
  ) async -> Opened? {
    var line = line
    line.wait = nil
    var told: String?
    return await AccessoryReturn.first(
      [name, opened.device.id].compactMap { $0 }, line, asLine: isLine, lender: opened.lender
    ) { error in
      // What keeps it from being opened is told once.
      guard !Task.isCancelled, !AccessoryWait.isAbsence(error), told != "\(error)" else { return }
      told = "\(error)"
      let message = (error as? AccessoryError)?.message ?? "\(error)"
      Output.note("\(SafeText.escape(opened.device.id)) can't be opened yet: \(SafeText.escape(message, limit: 500))")
    } open: { name in
      // A service may have it and wait for it, too.
      if let held = try await HeldDevice.findNow(name, line, asLine: isLine), !held.isThere {
        throw AccessoryError.disconnected(held.name)
      }
      return try await open(name, line)
    }
  }

  /// Says that the accessory went or came.
  func tell(_ event: DeviceEventName, _ device: Device) {
    if json { return Output.json(DeviceEventDocument(event, at: WallClock.seconds, DeviceDocument(device))) }
    let id = SafeText.escape(device.id)
    Output.note(event == .disconnected ? "\(id) is gone: waiting for it to come back" : "\(id) is back")
  }
}
