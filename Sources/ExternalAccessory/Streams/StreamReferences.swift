// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Weak references to the client's stream object and its delegate.
///
/// `@unchecked Sendable`: a value is behind its notifier's lock, or in use by the one thread that passes it there or
/// back. The delegate is called on the thread whose run loop the client has chosen for that.
struct WeakStreamReferences: @unchecked Sendable {
  weak var stream: Stream?
  weak var delegate: (any StreamDelegate)?

  /// Strong references for the time of a call. Release them outside the lock: they may be the last ones, and a
  /// deallocated stream calls the notifier.
  var strongReferences: StrongStreamReferences { StrongStreamReferences(stream: stream, delegate: delegate) }
}

/// Strong references to the stream that sends an event, and the delegate that receives it.
///
/// `@unchecked Sendable`: created behind the notifier's lock, and used only by the thread that held it.
struct StrongStreamReferences: @unchecked Sendable {
  let stream: Stream?
  let delegate: (any StreamDelegate)?

  /// Whether both objects still exist.
  var isThere: Bool { stream != nil && delegate != nil }

  func deliver(_ event: Stream.Event) { if let stream { delegate?.stream(stream, handle: event) } }
}
