// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// Whether something that may change a device may be sent to it.
///
/// Where a driver marks commands as writes, two permissions are needed for these, and for bytes that the driver doesn't make
/// itself: `writes: allowed` in the device's profile, and the word of who asks. Of other drivers nothing is refused.
public struct WriteRules: Sendable {
  /// A protocol that the device may speak, by what is known of it.
  private struct Kind: Sendable {
    let driver: Driver
    let profile: Profile?
  }

  /// What the device is called in errors.
  private let label: String
  private var kinds: [Kind] = []

  /// Rules for a device that is called `label`: nothing is refused until a driver is added.
  init(_ label: String) { self.label = label }

  /// The device may speak this driver's protocol. Without a profile nothing allows writes.
  mutating func add(_ driver: Driver?, _ profile: Profile?) {
    guard let driver, driver.hasWrites else { return }
    kinds.append(Kind(driver: driver, profile: profile))
  }

  /// Whether this is one of the drivers whose protocols the device may speak, and has writes.
  func names(_ driver: String) -> Bool { kinds.contains { $0.driver.name == driver } }

  /// Whether a protocol of the device has writes; otherwise nothing is refused.
  public var hasWrites: Bool { !kinds.isEmpty }

  /// Whether what is known of the device allows writes to who asks for them.
  public var allowsWrites: Bool { kinds.allSatisfy { $0.profile?.allowsWrites == true } }

  /// Throws `permissionDenied` if one of these calls is a write and a permission for that is missing.
  public func check(_ calls: [CommandCall], isAsked: Bool) throws(AccessoryError) {
    guard let write = calls.first(where: \.command.isWrite) else { return }
    try check("\(write.command.name) changes something in \(label)", isAsked)
  }

  /// The error that these calls would end with, for want of a permission; nil if they may be sent.
  public func refusal(of calls: [CommandCall], isAsked: Bool) -> AccessoryError? {
    do throws(AccessoryError) {
      try check(calls, isAsked: isAsked)
      return nil
    } catch {
      return error
    }
  }

  /// Throws `permissionDenied` if bytes that the driver doesn't make itself may be a write and a permission for that is
  /// missing.
  public func checkBytes(isAsked: Bool) throws(AccessoryError) {
    guard let kind = kinds.first else { return }
    try check(
      "\(kind.driver.name) has commands that change something in \(label), and bytes may be such a command", isAsked)
  }

  /// The error that `checkBytes` throws; nil if it throws none.
  func refusalOfBytes(isAsked: Bool) -> AccessoryError? {
    do throws(AccessoryError) {
      try checkBytes(isAsked: isAsked)
      return nil
    } catch {
      return error
    }
  }

  private func check(_ reason: String, _ isAsked: Bool) throws(AccessoryError) {
    let refusing = kinds.first { $0.profile?.allowsWrites != true }
    var missing: [String] = []
    if let refusing {
      missing.append(
        refusing.profile.map { "its profile \($0.name) must say writes: allowed" }
          ?? "a profile that fits it must say writes: allowed")
    }
    if !isAsked { missing.append("who asks must say --write") }
    guard !missing.isEmpty else { return }
    throw AccessoryError(
      .permissionDenied, "\(reason), so nothing was sent: for that, \(missing.joined(separator: ", and "))")
  }
}
