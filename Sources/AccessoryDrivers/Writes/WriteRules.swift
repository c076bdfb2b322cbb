// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// Decides whether commands and bytes that may change an accessory can be sent to it.
///
/// Commands that are writes, and raw bytes that may be one, need two permissions: `writes: allowed` in the device's
/// profile, and that the caller asks for it. Raw bytes may be sent without these only if all drivers that the device may
/// belong to say that they are harmless.
public struct WriteRules: Sendable {
  /// A protocol that the device may use.
  private struct Kind: Sendable {
    let driver: Driver
    @Boxed var profile: Profile?
  }

  /// The device's name in errors.
  private let label: String
  private var kinds: [Kind] = []

  /// Rules for a device, with its name in errors. Nothing is refused until a driver is added.
  package init(_ label: String) { self.label = label }

  /// Adds a driver that the device may belong to. Without a profile, writes aren't allowed.
  package mutating func add(_ driver: Driver?, _ profile: Profile?) {
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
    if let refusal = refusal(of: calls, isAsked: isAsked) { throw refusal }
  }

  /// The error that `check` throws for these calls; nil if they may be sent.
  public func refusal(of calls: [CommandCall], isAsked: Bool) -> AccessoryError? {
    guard let write = calls.first(where: \.command.isWrite), let advice = advice(isAsked: isAsked) else { return nil }
    return refusal("\(write.command.name) changes something in \(label)", advice)
  }

  /// Throws `permissionDenied` if raw bytes may be a write and a permission is missing.
  public func checkBytes(isAsked: Bool) throws(AccessoryError) {
    if let refusal = refusalOfBytes(isAsked: isAsked) { throw refusal }
  }

  /// The error that `checkBytes` throws; nil if it throws none. `asking` is the instruction for getting permission.
  package func refusalOfBytes(isAsked: Bool, asking: String = Self.asking) -> AccessoryError? {
    guard let kind = kinds.first, let advice = adviceForBytes(isAsked: isAsked, asking: asking) else { return nil }
    return refusal("raw bytes may change something in \(label), which speaks \(kind.driver.name)", advice)
  }

  /// What must be done before raw bytes are sent, for people; nil if nothing is missing.
  package func adviceForBytes(isAsked: Bool, asking: String = Self.asking) -> String? {
    guard let advice = advice(isAsked: isAsked, asking: asking) else { return nil }
    guard let open = kinds.first(where: { $0.driver.rawBytes == .undecided }), kinds.count == 1 else { return advice }
    return advice
      + "; or, if no bytes can do harm there, the description of \(open.driver.name) must say raw: harmless"
  }

  private func refusal(_ reason: String, _ advice: String) -> AccessoryError {
    AccessoryError(.permissionDenied, "\(reason), so nothing was sent. To allow it, \(advice)")
  }

  /// How a user of the command asks for permission.
  package static let asking = "the command must have --write"

  private func advice(isAsked: Bool, asking: String = Self.asking) -> String? {
    var missing: [String] = []
    if let refusing = kinds.first(where: { $0.profile?.allowsWrites != true }) {
      let name = refusing.driver.name
      if let profile = refusing.profile, !profile.isBuiltIn {
        missing.append("its profile \(profile.name) must say writes: allowed")
      } else {
        missing.append(
          "a profile of your own for it must say driver: \(name) and writes: allowed (bridge-cli profile show \(name) "
            + "prints one to start with)")
      }
    }
    if !kinds.isEmpty, !isAsked { missing.append(asking) }
    return missing.isEmpty ? nil : missing.joined(separator: ", and ")
  }
}

extension Profile {
  /// Whether no file has this profile: it is built in, or made for a described protocol that has no profile.
  fileprivate var isBuiltIn: Bool { self == described?.profile || origin.isShipped }
}
