// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// Decides whether commands and bytes that may change an accessory can be sent to it.
///
/// If a driver has commands that are writes, those, and raw bytes that the driver didn't encode, need two permissions:
/// `writes: allowed` in the device's profile, and that the caller asks for it. For other drivers nothing is refused.
public struct WriteRules: Sendable {
  /// A protocol that the device may speak.
  private struct Kind: Sendable {
    let driver: Driver
    let profile: Profile?
  }

  /// The device's name in errors.
  private let label: String
  private var kinds: [Kind] = []

  /// Rules for a device, with its name in errors. Nothing is refused until a driver is added.
  init(_ label: String) { self.label = label }

  /// Adds a driver that the device may belong to. Without a profile, writes aren't allowed.
  mutating func add(_ driver: Driver?, _ profile: Profile?) {
    guard let driver, driver.hasWrites else { return }
    kinds.append(Kind(driver: driver, profile: profile))
  }

  /// Whether this is one of the added drivers with writes.
  package func names(_ driver: String) -> Bool { kinds.contains { $0.driver.name == driver } }

  /// Whether one of the device's protocols has writes. If not, nothing is refused.
  public var hasWrites: Bool { !kinds.isEmpty }

  /// Whether the profiles allow writes to callers that ask for permission.
  public var allowsWrites: Bool { kinds.allSatisfy { $0.profile?.allowsWrites == true } }

  /// Throws `permissionDenied` if one of these calls is a write and a permission is missing.
  public func check(_ calls: [CommandCall], isAsked: Bool) throws(AccessoryError) {
    guard let write = calls.first(where: \.command.isWrite) else { return }
    try check("\(write.command.name) changes something in \(label)", isAsked)
  }

  /// The error that `check` throws for these calls; nil if they may be sent.
  public func refusal(of calls: [CommandCall], isAsked: Bool) -> AccessoryError? {
    do throws(AccessoryError) {
      try check(calls, isAsked: isAsked)
      return nil
    } catch {
      return error
    }
  }

  /// Throws `permissionDenied` if raw bytes may be a write and a permission is missing.
  public func checkBytes(isAsked: Bool) throws(AccessoryError) {
    guard let kind = kinds.first else { return }
    try check(
      "\(kind.driver.name) has commands that change something in \(label), and these bytes may be such a command",
      isAsked)
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
    if !isAsked { missing.append("the command must have --write") }
    guard !missing.isEmpty else { return }
    throw AccessoryError(
      .permissionDenied, "\(reason), so nothing was sent. To allow it, \(missing.joined(separator: ", and "))")
  }
}
