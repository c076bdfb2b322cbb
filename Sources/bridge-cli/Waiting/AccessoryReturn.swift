// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

/// The pauses of a command that waits for an accessory or follows it.
final class ReturnPauses: Sendable {
  private let pauses = Locked(GrowingPauses())
  private let policy: RetryPolicy

  init(longest: Duration = RetryPolicy().longestInterval) { policy = GrowingPauses.policy(longest: longest) }

  /// The accessory is open now.
  func opened(now: MonotonicTime = IOThread.shared.now) { pauses.withLock { $0.opened(now: now) } }

  /// The pause after the end of a link, before the accessory is opened again. What leaves at once isn't opened at once.
  func afterLink(isOnTheAir: Bool, now: MonotonicTime) -> Duration {
    pauses.withLock { pauses in
      let time = pauses.ended(now: now) ?? .zero
      return isOnTheAir && time < GrowingPauses.proof ? next(&pauses) : max(.zero, AccessoryReturn.pause - time)
    }
  }

  /// The link has ended, if there was one. Returns whether there was.
  func ended(now: MonotonicTime = IOThread.shared.now) -> Bool { pauses.withLock { $0.ended(now: now) } != nil }

  /// The pause before the next attempt, after one that has connected the device for nothing, or after a link.
  func next() -> Duration { pauses.withLock { next(&$0) } }

  private func next(_ pauses: inout GrowingPauses) -> Duration { pauses.next(policy) ?? policy.longestInterval }

  /// Begins again with the shortest pause: something has come.
  func reset() { pauses.withLock { $0.reset() } }
}

/// Reopens an accessory that was unplugged.
enum AccessoryReturn {
  /// The pause between tries of what can't be watched, and after something has come; as in the default retry policy.
  fileprivate static let pause = RetryPolicy().interval
  /// How many tries are left to a service that had the accessory, before it is opened here.
  private static let courtesy = 3
  /// For this time after something has come, it is tried again: it may not be ready yet. Then nothing is done until more comes.
  private static let settling = Duration.seconds(10)

  /// What is being waited for, for people.
  static func waiting(_ again: SameAgain?) -> String {
    guard let port = again?.boundPort else { return "waiting for it to come back" }
    return "waiting for it to come back at \(SafeText.escape(port)), because others may have its serial number"
  }

  /// Calls `open` with each name of the accessory until one succeeds, and returns its result; nil when the task is cancelled. `text`
  /// is what the user typed. `pauses` knows when the accessory was opened last. `failed` receives the errors of `open`. `servicePath` is
  /// the control socket of the service that had the accessory: while that service runs, it may open the accessory first. Otherwise it
  /// would find the accessory busy, and give it up.
  static func first<Opened: Sendable>(
    _ again: SameAgain, _ text: String?, _ line: LineOptions, servicePath: String?, pauses: ReturnPauses,
    services: [String] = ServicePlace.all(), clock: any TimerClock = IOThread.shared,
    failed: (any Error) -> Void = { _ in }, open: (String) async throws -> Opened
  ) async -> Opened? {
    // The kernel gives the number of a pseudo-terminal that is gone to the next one, of any program. So the number
    // counts only where the user typed it, and not for another terminal than before; see `NumberedTerminals`.
    let all = again.names(text)
    let names = all.prefix(1) + all.dropFirst().filter { !$0.hasPrefix("/dev/pts/") }
    let arrivals = await ArrivalWatcher(paths: names.flatMap(paths), services: services, clock: clock)
    defer { arrivals.end() }
    // No event reports that a device has come back to a network.
    let isTold = !names.contains { DeviceAddress($0).map { $0.node == nil } ?? false }
    let isOnTheAir = names.contains { DeviceName($0).isBluetooth }
    let pause = pauses.afterLink(isOnTheAir: isOnTheAir, now: clock.now)
    // What leaves again and again isn't connected sooner because something else has come.
    if isOnTheAir { await clock.sleep(for: pause) } else { await arrivals.next(within: pause) }
    var (seen, came) = (0, clock.now)
    while !Task.isCancelled {
      var isAbsent = isTold
      var rest = Duration.zero
      for name in names {
        if let servicePath, seen < courtesy, await isLeft(name, line, again, to: servicePath) {
          (seen, isAbsent) = (seen + 1, false)
          break
        }
        do { return try await open(name) } catch {
          isAbsent = isAbsent && AccessoryWait.isUnknown(error)
          // What isn't found wasn't connected either.
          if isOnTheAir, !AccessoryWait.isUnknown(error) { rest = max(rest, pauses.next()) }
          failed(error)
        }
      }
      if rest > .zero { await clock.sleep(for: rest) }
      let isQuiet = isAbsent && !arrivals.isBlind && clock.now - came >= settling
      if await arrivals.next(within: isQuiet ? nil : max(.zero, Self.pause - rest)) { came = clock.now }
    }
    return nil
  }

  /// The files that a name may mean: links come without a device.
  private static func paths(of name: String) -> [String] {
    if DeviceName(name).isBluetooth { return [] }
    return [name, UnitName(name)?.line].compactMap { $0 }.flatMap { text in
      [WorkingFolder.absolute(text), DeviceName(text).pathBelowDev].compactMap { $0 }
    }
  }

  /// Whether the service is running, the accessory is there, and the service hasn't opened it yet.
  private static func isLeft(
    _ name: String, _ line: LineOptions, _ again: SameAgain, to servicePath: String
  ) async -> Bool {
    guard (try? await BridgeClient.connect(to: servicePath)) != nil,
      let found = try? await Door.findNow(name, line, asLine: again.isLine, again: again)
    else {
      return false
    }
    return found.service == nil
  }
}
