// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// Counts the calls of permitted commands, to limit their rates.
struct CommandRates {
  private struct Key: Hashable {
    let accessory: String
    let subject: CommandPermission.Subject
    let command: String
  }

  private struct Past {
    /// The times of the calls, in order: at most as many as the rate permits.
    var times: [MonotonicTime]
    var interval: Duration
  }

  /// The most commands (of all accessories) that are counted at a time.
  static let limit = 4_096

  private var past: [Key: Past] = [:]

  /// The number of commands that are counted, including those whose times are all over.
  var count: Int { past.count }

  /// Counts one call for each of these entries, or none of them. Returns the time to wait until all of them are allowed; nil if they
  /// are allowed now and were counted. Throws `permissionDenied` if the call has more commands than its interval ever allows, and
  /// `busy` if too many other commands are counted.
  mutating func take(
    _ permissions: [CommandPermission], of accessory: String, now: MonotonicTime
  ) throws(AccessoryError) -> (wait: Duration, rate: CommandPermission)? {
    var wanted: [Key: (count: Int, permission: CommandPermission)] = [:]
    for permission in permissions {
      let key = Key(accessory: accessory, subject: permission.subject, command: permission.command)
      wanted[key, default: (0, permission)].count += 1
    }
    var longest: (wait: Duration, rate: CommandPermission)?
    for (key, (count, permission)) in wanted {
      let rate = permission.rate
      guard count <= rate.count else {
        throw AccessoryError(
          .permissionDenied,
          "\(permission.command) may be performed \(rate.text) at most, and this call has \(count) of them")
      }
      let times = (past[key]?.times ?? []).filter { $0 + rate.interval > now }
      past[key] = times.isEmpty ? nil : Past(times: times, interval: rate.interval)
      guard times.count + count > rate.count else { continue }
      // The number of calls that must expire first. After a rate was lowered, more calls may be counted than it allows.
      let wait = times[times.count + count - rate.count - 1] + rate.interval - now
      if wait > longest?.wait ?? .zero { longest = (wait, permission) }
    }
    if let longest { return longest }
    if past.count + wanted.count > Self.limit { forget(now) }
    guard past.count + wanted.count <= Self.limit else {
      throw AccessoryError(.busy, "the service limits the commands of too many accessories already: try again later")
    }
    for (key, (count, permission)) in wanted {
      past[key, default: Past(times: [], interval: permission.rate.interval)].times += Array(
        repeating: now, count: count)
    }
    return nil
  }

  /// Forgets expired calls.
  private mutating func forget(_ now: MonotonicTime) {
    past = past.filter { _, past in past.times.last.map { $0 + past.interval > now } ?? false }
  }
}
