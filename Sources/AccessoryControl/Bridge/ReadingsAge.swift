// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension Bridge {
  /// How old an accessory's readings are. Only the service decides this, because it knows how often readings are
  /// renewed. Lists and events report it in the same fields.
  package struct ReadingsAge: Sendable, Hashable {
    /// The age of the oldest of the regular readings.
    package var oldest: Duration
    /// Whether one of them is older than it should be.
    package var isStale: Bool
    /// The time until one is, unless they are renewed; nil where it is so already, and where nothing says how often they are.
    package var fresh: Duration?
    /// What the accessory doesn't answer or refuses: a sentence without its period; nil where nothing is known to be missing.
    package var missing: String?

    package init(oldest: Duration, isStale: Bool = false, fresh: Duration? = nil, missing: String? = nil) {
      (self.oldest, self.isStale, self.fresh, self.missing) = (oldest, isStale, fresh, missing)
    }

    fileprivate init?(_ age: Int?, _ stale: Bool?, _ fresh: Int?, _ missing: String?) {
      guard let age else { return nil }
      self.init(
        oldest: .milliseconds(age), isStale: stale == true, fresh: fresh.map { .milliseconds($0) }, missing: missing)
    }
  }
}

/// A message with the age of an accessory's readings, in these fields.
package protocol ReadingsAgeTelling {
  var readings_age_ms: Int? { get set }
  var stale: Bool? { get set }
  var fresh_ms: Int? { get set }
  var missing: String? { get set }
}

extension ReadingsAgeTelling {
  /// The age of the readings; nil while nothing was read, in events without readings, and from an older service.
  package var readingsAge: Bridge.ReadingsAge? {
    get { Bridge.ReadingsAge(readings_age_ms, stale, fresh_ms, missing) }
    set {
      readings_age_ms = newValue?.oldest.inMilliseconds
      stale = newValue?.isStale == true ? true : nil
      fresh_ms = newValue?.fresh?.inMilliseconds
      missing = newValue?.missing
    }
  }
}

extension Bridge.Accessory: ReadingsAgeTelling {}
extension Bridge.Event: ReadingsAgeTelling {}
