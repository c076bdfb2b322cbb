// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CommandOutput

/// Waits for an accessory that is absent, as `--wait` says. The time limit counts from the first use in this process,
/// for all waits together.
enum AccessoryWait {
  private static let start = IOThread.shared.now
  /// Whether the accessory came during the wait. Then its permissions may not be set yet, or another program may be
  /// probing it.
  private static let isNewcomer = Locked(false)
  /// The pause between two looks. Some things, like a simulator's link, appear without an event.
  private static let pause = Duration.milliseconds(200)

  private static func left(of limit: Duration) -> Duration { start + limit - IOThread.shared.now }

  /// Looks for the accessory that `text` names, until it is there or `limit` is over. Returns what the last look has
  /// found, or throws its error.
  static func find(
    _ text: String?, _ line: LineOptions, asLine isLine: Bool, limit: Duration
  ) async throws -> any FoundAccessory {
    try await waiting(for: text, limit) { await look(text, line, asLine: isLine) }
  }

  /// Looks for the device that `text` means, for a command that opens no accessory itself, until the device is there or the time
  /// is over.
  static func device(
    _ text: String?, limit: Duration?, searching: DeviceName.Searches = .everything
  ) async throws -> Device {
    try await waiting(for: text, limit ?? .zero) {
      do {
        var name = DeviceName(text)
        name.searches = searching
        return (.success(try name.device(among: try await KnownDevices.devices(for: name, lines: true))), isThere: true)
      } catch {
        return (.failure(error), isThere: !isAbsence(error))
      }
    }
  }

  /// Looks until the accessory is there or the time is over, and returns what the last look found.
  private static func waiting<Found>(
    for text: String?, _ limit: Duration, _ look: () async -> (Result<Found, any Error>, isThere: Bool)
  ) async throws -> Found {
    var (found, isThere) = await look()
    guard !isThere, left(of: limit) > .zero else { return try found.get() }
    isNewcomer.withLock { $0 = true }
    let arrivals = await ArrivalWatcher()
    defer { arrivals.end() }
    let wait = WaitingLine.shared.begin("waiting for \(text ?? "an accessory")", limit: left(of: limit))
    defer { WaitingLine.shared.end(wait) }
    while !isThere, left(of: limit) > .zero {
      await arrivals.next(within: min(pause, left(of: limit)))
      try checkInterruption()
      (found, isThere) = await look()
    }
    return try found.get()
  }

  /// Looks once. `isThere` is also true for an error that waiting can't cure.
  private static func look(
    _ text: String?, _ line: LineOptions, asLine isLine: Bool
  ) async -> (Result<any FoundAccessory, any Error>, isThere: Bool) {
    do {
      let found = try await Door.findNow(text, line, asLine: isLine)
      return (.success(found), isThere: found.isThere(isNamed: text != nil))
    } catch {
      return (.failure(error), isThere: !isAbsence(error))
    }
  }

  /// Whether an error means that an accessory is absent.
  static func isAbsence(_ error: any Error) -> Bool {
    switch error {
    case ResolutionError.noDevices, ResolutionError.noMatch, ResolutionError.otherCapitals: true
    case let error as AccessoryError: [.notFound, .disconnected].contains(error.kind)
    default: false
    }
  }

  /// Whether an error means that nothing here has such a name.
  static func isUnknown(_ error: any Error) -> Bool {
    isAbsence(error) && (error as? AccessoryError)?.kind != .disconnected
  }

  /// Opens a device. Within `limit`, errors that are usual for a device that is just appearing are tried again.
  static func opening<Opened: Sendable>(
    _ label: String, limit: Duration?, _ open: () async throws(AccessoryError) -> Opened
  ) async throws(AccessoryError) -> Opened {
    guard let limit else { return try await open() }
    var wait: WaitingLine.Wait?
    let pauses = ReturnPauses(longest: .seconds(10))
    defer { if let wait { WaitingLine.shared.end(wait) } }
    while true {
      let failure: AccessoryError
      let begin = IOThread.shared.now
      do throws(AccessoryError) { return try await open() } catch { failure = error }
      // What takes time to fail was connected, and has left.
      let hasLeft = failure.kind == .disconnected && IOThread.shared.now - begin > pause
      let isPassing =
        isAbsence(failure)
        || isNewcomer.withLock { $0 } && [.permissionDenied, .busy].contains(failure.kind)
      let left = left(of: limit)
      guard isPassing, left > .zero else { throw failure }
      if wait == nil { wait = WaitingLine.shared.begin("waiting for \(label)", limit: left) }
      await IOThread.shared.sleep(for: min(hasLeft ? pauses.next() : pause, left))
      try checkInterruption()
    }
  }

  /// Throws `cancelled` when the command was interrupted, so that it doesn't end with success.
  static func checkInterruption() throws(AccessoryError) {
    if Task.isCancelled { throw AccessoryError(.cancelled, "interrupted") }
  }
}
