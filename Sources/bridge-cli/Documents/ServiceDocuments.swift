// SPDX-License-Identifier: Apache-2.0

import CommandOutput

/// Where a service answers: this one, or one that runs already.
struct ServingDocument: Encodable {
  enum Event: String, Encodable {
    case serving
    case runningAlready = "running_already"
  }

  let schema = DocumentSchema.name
  let event: Event
  let time = WallClock.seconds
  /// Its path; null of one that was passed, and has none.
  let socket: OrNull<String>
  /// Null where the system doesn't say which process listens there.
  let process: OrNull<Int32>
}

/// What a service says of itself.
struct LogDocument: Encodable {
  let schema = DocumentSchema.name
  let event = "log"
  let time = WallClock.seconds
  let level, message: String
}
