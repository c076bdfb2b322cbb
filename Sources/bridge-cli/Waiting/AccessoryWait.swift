// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CommandOutput

/// Waits for an accessory that isn't there yet, as --wait says. The time is the command's: it begins once.
enum AccessoryWait {
  private static let start = IOThread.shared.now
  /// Whether the accessory came while it was waited for. Then it may still be without its permissions, or another program may
  /// look at it.
  private static let isNewcomer = Locked(false)
  /// The pause between looks: not everything that an accessory needs is told of when it comes, like a simulator's link.
  private static let pause = Duration.milliseconds(200)

  private static func left(of limit: Duration) -> Duration { start + limit - IOThread.shared.now }

  /// Looks for the accessory that `text` means until it is there or the time is over. Gives what the last look gave: the
  /// accessory that a service holds, or nil where this command is to open it.
  static func find(
    _ text: String?, _ line: LineOptions, asLine isLine: Bool, limit: Duration
  ) async throws -> HeldDevice? {
    var (found, isThere) = await look(text, line, asLine: isLine)
    guard !isThere, left(of: limit) > .zero else { return try found.get() }
    isNewcomer.withLock { $0 = true }
    let comings = await ArrivalWatcher()
    defer { comings.end() }
    let wait = WaitingLine.shared.begin("waiting for \(text ?? "an accessory")", limit: left(of: limit))
    defer { WaitingLine.shared.end(wait) }
    while !isThere, left(of: limit) > .zero {
      await comings.next(within: min(pause, left(of: limit)))
      try checkInterruption()
      (found, isThere) = await look(text, line, asLine: isLine)
    }
    return try found.get()
  }

  /// Looks once. What can't be mended by waiting counts as there.
  private static func look(
    _ text: String?, _ line: LineOptions, asLine isLine: Bool
  ) async -> (Result<HeldDevice?, any Error>, isThere: Bool) {
    do {
      if let held = try await HeldDevice.findNow(text, line, asLine: isLine) {
        return (.success(held), isThere: held.isThere)
      }
      let target = try await OpenedAccessory.find(text, line, asLine: isLine)
      // Without a name any device may be found: one of which nothing is known isn't the one that is waited for.
      guard text != nil || target.driver != nil else { return (.success(nil), isThere: false) }
      return (.success(nil), isThere: true)
    } catch {
      return (.failure(error), isThere: !isAbsence(error))
    }
  }

  /// Whether an error says that an accessory isn't there.
  static func isAbsence(_ error: any Error) -> Bool {
    switch error {
    case ResolutionError.noDevices, ResolutionError.noMatch: true
    case let error as AccessoryError: [.notFound, .disconnected].contains(error.kind)
    default: false
    }
  }

  /// Opens a device; within `limit` again and again while it can't be opened because it comes just now.
  static func opening(
    _ label: String, limit: Duration?, _ open: () async throws(AccessoryError) -> AccessorySession
  ) async throws(AccessoryError) -> AccessorySession {
    guard let limit else { return try await open() }
    var wait: WaitingLine.Wait?
    defer { if let wait { WaitingLine.shared.end(wait) } }
    while true {
      let failure: AccessoryError
      do throws(AccessoryError) { return try await open() } catch { failure = error }
      let isPassing =
        isAbsence(failure)
        || isNewcomer.withLock { $0 } && [.permissionDenied, .busy].contains(failure.kind)
      let left = left(of: limit)
      guard isPassing, left > .zero else { throw failure }
      if wait == nil { wait = WaitingLine.shared.begin("waiting for \(label)", limit: left) }
      await IOThread.shared.sleep(for: min(pause, left))
      try checkInterruption()
    }
  }

  /// Throws `cancelled` when the command was interrupted: that is no success.
  static func checkInterruption() throws(AccessoryError) {
    if Task.isCancelled { throw AccessoryError(.cancelled, "interrupted") }
  }
}
