// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The client's stream object and its delegate. Both are weak references.
///
/// `@unchecked Sendable`: a value is either behind its notifier's lock or on its way there or back, held by one thread.
/// The delegate is called with the stream by the thread whose run loop the client chose for that.
struct StreamFace: @unchecked Sendable {
  weak var stream: Stream?
  weak var delegate: (any StreamDelegate)?

  /// Both, for as long as they are needed. To be let go outside the lock: these may be the last references, and what is
  /// freed comes back to the notifier.
  var audience: StreamAudience { StreamAudience(stream: stream, delegate: delegate) }
}

/// Who is told of an event, and by whom.
///
/// `@unchecked Sendable`: made behind the notifier's lock and used by the thread that held it, and no other.
struct StreamAudience: @unchecked Sendable {
  let stream: Stream?
  let delegate: (any StreamDelegate)?

  /// False when nobody is left to tell or to be told.
  var isThere: Bool { stream != nil && delegate != nil }

  func tell(_ event: Stream.Event) { if let stream { delegate?.stream(stream, handle: event) } }
}
