// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// Counts how often permitted commands were performed.
struct CommandRates {
  private struct Key: Hashable {
    let accessory: String
    let subject: CommandPermission.Subject
    let command: String
  }

  private struct Past {
    /// When the command was performed, in order: at most as often as its rate permits.
    var times: [MonotonicTime]
    var interval: Duration
  }

  /// The most commands of accessories that are counted at a time.
  static let limit = 4_096

  private var past: [Key: Past] = [:]

  /// The number of commands that are counted, those of which all times are over included.
  var count: Int { past.count }

  /// Counts one call for each of these entries, or none of them. Returns how long the caller must wait until all of them may
  /// be performed; nil when they may be performed now, and were counted. Throws `permissionDenied` when there are more of them
  /// than may ever be performed within an interval, and `busy` when too many others are counted.
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
      // So many must be over first; of a rate that was lowered there may be more than it permits.
      let wait = times[times.count + count - rate.count - 1] + rate.interval - now
      if wait > longest?.wait ?? .zero { longest = (wait, permission) }
    }
    if let longest { return longest }
    if past.count + wanted.count > Self.limit { forget(now) }
    guard past.count + wanted.count <= Self.limit else {
      throw AccessoryError(.busy, "the commands of too many accessories are being counted: try again later")
    }
    for (key, (count, permission)) in wanted {
      past[key, default: Past(times: [], interval: permission.rate.interval)].times += Array(
        repeating: now, count: count)
    }
    return nil
  }

  /// Forgets what is over.
  private mutating func forget(_ now: MonotonicTime) {
    past = past.filter { _, past in past.times.last.map { $0 + past.interval > now } ?? false }
  }
}
