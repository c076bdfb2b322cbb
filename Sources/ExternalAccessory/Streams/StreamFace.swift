// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The stream object that a client has, and its delegate. Neither is kept.
///
/// `@unchecked Sendable`: a value is either behind its notifier's lock or on its way there or back, held by one thread.
/// The delegate is called with the stream by the thread whose run loop the client chose for that.
struct StreamFace: @unchecked Sendable {
  weak var stream: Stream?
  weak var delegate: (any StreamDelegate)?

  /// Both, for as long as they are needed; nil when one is missing.
  var audience: StreamAudience? {
    guard let stream, let delegate else { return nil }
    return StreamAudience(stream: stream, delegate: delegate)
  }
}

/// Who is told of an event, and by whom.
///
/// `@unchecked Sendable`: made behind the notifier's lock and used by the thread that held it, and no other.
struct StreamAudience: @unchecked Sendable {
  let stream: Stream
  let delegate: any StreamDelegate

  func tell(_ event: Stream.Event) { delegate.stream(stream, handle: event) }
}
