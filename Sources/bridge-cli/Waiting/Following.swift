// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import CommandOutput

/// An accessory that a command follows over unplugs.
protocol Followed: Sendable {
  var device: Device { get }
  /// The control socket of the service that holds the accessory; nil when this process has it open.
  var servicePath: String? { get }
  func close() async
}

/// Follows an accessory until the command is interrupted, also over unplugs. It doesn't follow services: of an accessory
/// that a service holds, `follow` takes the news of this one, and `AccessoryReturn` waits for services by their mirror.
struct Following {
  /// The name that the user typed.
  let name: String?
  let line: LineOptions
  /// Whether the line itself is followed, and not one accessory on it.
  var isLine = false
  /// Whether an unplug ends the command with an error.
  let once: Bool
  let json: Bool

  /// Finds the accessory, opens it with `open` and calls `follow`, again each time it comes back. `follow` throws `disconnected`
  /// when the accessory is unplugged.
  func run<Opened: Followed>(
    open: (any FoundAccessory) async throws -> Opened, follow: (Opened) async throws -> Void
  ) async throws {
    let pauses = ReturnPauses()
    var opened = try await open(try await Door.find(name, line, asLine: isLine))
    var isBack = false
    while true {
      // When the accessory was opened last.
      let start = IOThread.shared.now
      pauses.opened(now: start)
      let failure: any Error
      do {
        try await follow(opened)
        return await opened.close()
      } catch { failure = error }
      await opened.close()
      // The exit status is the same whether the interruption came during a request or between two.
      if Task.isCancelled, (failure as? AccessoryError)?.kind == .cancelled { throw CancellationError() }
      let isFresh = isBack && IOThread.shared.now - start < Self.settling
      guard !once, !Task.isCancelled, isPassing(failure, isFresh: isFresh) else { throw failure }
      let again = await Door.again(opened.device, asLine: isLine)
      tell(.disconnected, opened.device, again)
      let wait = WaitingLine.shared.begin("waiting for \(again.name) to come back")
      defer { WaitingLine.shared.end(wait) }
      guard let next = await back(again, opened, pauses, open) else { throw CancellationError() }
      (opened, isBack) = (next, true)
      tell(.connected, opened.device)
    }
  }

  /// For this time after its return an accessory may answer incorrectly or not at all.
  private static let settling = Duration.seconds(5)

  /// Whether the accessory is waited for after this error. One that has just come back may not be ready yet.
  private func isPassing(_ error: any Error, isFresh: Bool) -> Bool {
    guard let kind = (error as? AccessoryError)?.kind else { return false }
    return kind == .disconnected || isFresh && [.timedOut, .badData, .ioFailure].contains(kind)
  }

  private func back<Opened: Followed>(
    _ again: SameAgain, _ opened: Opened, _ pauses: ReturnPauses, _ open: (any FoundAccessory) async throws -> Opened
  ) async -> Opened? {
    var line = line
    line.wait = nil
    var printed: String?
    return await AccessoryReturn.first(again, name, line, servicePath: opened.servicePath, pauses: pauses) { error in
      // The same error is printed once.
      guard !Task.isCancelled, !AccessoryWait.isAbsence(error), printed != "\(error)" else { return }
      printed = "\(error)"
      let message = (error as? AccessoryError)?.message ?? "\(error)"
      Output.note("\(SafeText.escape(opened.device.id)) can't be opened yet: \(SafeText.escape(message, limit: 500))")
    } open: { name in
      let found = try await Door.findNow(name, line, asLine: isLine, again: again)
      // A service may have the accessory and wait for it, too. Unless it has given up, it reports when the accessory is
      // back.
      guard found.isThere(isNamed: true) else {
        let hasGivenUp = found.service?.accessory.state == .failed
        throw AccessoryError(hasGivenUp ? .disconnected : .notFound, "the service can't reach \(found.device.place)")
      }
      return try await open(found)
    }
  }

  /// Prints that the accessory has gone or come back.
  func tell(_ event: DeviceEventName, _ device: Device, _ again: SameAgain? = nil) {
    if json { return Output.json(DeviceEventDocument(event, at: WallClock.seconds, DeviceDocument(device))) }
    let id = SafeText.escape(device.id)
    Output.note(event == .disconnected ? "\(id) is gone: \(AccessoryReturn.waiting(again))" : "\(id) is back")
  }
}
