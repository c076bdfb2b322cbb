// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

/// The lines with several accessories that are open in this process. A line is opened for the first of its accessories,
/// and closed with the last.
public actor SharedLines {
  /// The lines of this process. A line can't be open in two instances at once.
  public static let shared = SharedLines()

  /// An open line.
  final class Line: Sendable {
    let session: AccessorySession
    let line: any AccessoryLine
    /// The settings that it was opened with.
    let settings: TransportSettings
    let driver: String

    init(_ session: AccessorySession, _ line: any AccessoryLine, _ settings: TransportSettings, driver: String) {
      (self.session, self.line, self.settings, self.driver) = (session, line, settings, driver)
    }
  }

  private enum Slot {
    case opening(Task<Result<Line, AccessoryError>, Never>)
    case open(Line, users: Int)
    case closing(Task<Void, Never>)
  }

  private var slots: [DeviceAddress: Slot] = [:]

  /// An instance without open lines.
  public init() {}

  /// Returns the line at an address, after opening it if need be. Call `giveBack` when it isn't needed any more. Throws
  /// what `open` throws.
  func take(
    _ address: DeviceAddress, _ open: @escaping @Sendable () async throws(AccessoryError) -> Line
  ) async throws(AccessoryError) -> Line {
    while true {
      switch slots[address] {
      case nil:
        // Uses a separate task, so that cancelling one caller doesn't stop the opening for others.
        slots[address] = .opening(
          Task {
            do throws(AccessoryError) { return .success(try await open()) } catch { return .failure(error) }
          })
      case .opening(let task):
        let result = await task.value
        if case .opening(task)? = slots[address] {
          switch result {
          case .success(let line): slots[address] = .open(line, users: 0)
          case .failure: slots[address] = nil
          }
        }
        if case .failure(let error) = result { throw error }
      case .open(let line, let users):
        guard !line.line.hasEnded else {
          close(line, at: address)
          continue
        }
        slots[address] = .open(line, users: users + 1)
        return line
      case .closing(let task):
        await task.value
        if case .closing(task)? = slots[address] { slots[address] = nil }
      }
    }
  }

  /// Gives a line back. If this was the last user, closes it, and returns when the device is free.
  func giveBack(_ line: Line, _ address: DeviceAddress) async {
    guard case .open(line, let users)? = slots[address] else { return }
    guard users <= 1 else {
      slots[address] = .open(line, users: users - 1)
      return
    }
    let task = close(line, at: address)
    await task.value
    if case .closing(task)? = slots[address] { slots[address] = nil }
  }

  @discardableResult
  private func close(_ line: Line, at address: DeviceAddress) -> Task<Void, Never> {
    let task = Task { await line.line.close() }
    slots[address] = .closing(task)
    return task
  }
}

/// Matches a line by identity, in `case` patterns.
private func ~= (pattern: SharedLines.Line, value: SharedLines.Line) -> Bool { pattern === value }

extension DeviceOpener {
  /// Whether the accessory may share its line with others.
  package var isOnSharedLine: Bool { device.unit != nil && driver?.units != nil }

  /// Opens the accessory as one of several on its line, which all openers with the same `lines` share. Throws what
  /// `accessory()` throws, and `busy` when the line is open with other settings or another driver.
  package func sharedAccessory() async throws(AccessoryError) -> (session: AccessorySession, accessory: any Accessory) {
    let rules = try checkedRules()
    guard let driver else { throw withoutDriver }
    try driver.check(device.unit, label: label)
    guard let unit = device.unit else {
      throw AccessoryError(.misconfigured, "\(label): the unit is missing, and several accessories may be on the line")
    }
    let line = try await takeLine()
    let (lines, address) = (lines, device.address)
    let accessory = try await line.line.accessory(unit: unit, share: LineShare { await lines.giveBack(line, address) })
    return (line.session, guarded(accessory, rules))
  }

  /// Asks these units one after another whether they are there, with a request that changes nothing. Calls `found` for each that
  /// answers. Throws what opening the line throws, `disconnected`, and `cancelled` when the task is cancelled.
  package func search(
    _ units: [Int], found: @Sendable (Int) async -> Void
  ) async throws(AccessoryError) {
    guard let driver else { throw withoutDriver }
    _ = try checkedRules()
    for unit in units { try driver.check(unit, label: label) }
    let line = try await takeLine()
    try await attempt { () throws(AccessoryError) in
      for unit in units {
        if Task.isCancelled { throw AccessoryError(.cancelled, "looking for units on \(label) was cancelled") }
        if try await line.line.isThere(unit: unit) { await found(unit) }
      }
    } finally: {
      await lines.giveBack(line, device.address)
    }
  }

  private func takeLine() async throws(AccessoryError) -> SharedLines.Line {
    guard let driver, let units = driver.units else { throw withoutDriver }
    var opener = self
    opener.device = device.line
    opener.label = device.address.description
    let (profile, clock, settings) = (profile, clock, settings)
    let line = try await lines.take(device.address) { [opener] () throws(AccessoryError) in
      let session = try await opener.unguardedSession()
      let line = try await units.open(session, profile: profile, clock: clock)
      return SharedLines.Line(session, line, settings, driver: driver.name)
    }
    guard line.settings == settings, line.driver == driver.name else {
      await lines.giveBack(line, device.address)
      throw AccessoryError(
        .busy,
        "\(device.address) is open for other accessories on it (\(line.driver)), and can't be opened with other "
          + "settings until "
          + "these are closed")
    }
    return line
  }
}
