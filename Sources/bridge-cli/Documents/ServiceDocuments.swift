// SPDX-License-Identifier: Apache-2.0

import CommandOutput

/// Where a service answers: this process, or a service that is running already.
struct ServingDocument: Encodable {
  enum Event: String, Encodable {
    case serving
    case runningAlready = "running_already"
  }

  let schema = DocumentSchema.name
  let event: Event
  let time = WallClock.seconds
  /// The socket's path; null for a socket that was passed to this process and has no path.
  let socket: OrNull<String>
  /// The service's process ID; null where the system doesn't report it.
  let process: OrNull<Int32>
}
