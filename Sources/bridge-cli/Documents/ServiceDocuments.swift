// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import CommandOutput

/// The sockets of a service: this process, or one that is running already.
struct ServingDocument: Encodable {
  enum Event: String, Encodable {
    case serving
    case runningAlready = "running_already"
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.serving
  let event: Event
  let time = WallClock.seconds
  /// The socket's path; null for a socket that was passed to this process and has no path.
  let socket: String?
  /// The path of the socket for readings; null for a service without one, and for one that runs already.
  let readings_socket: String?
  /// The service's process ID; null where the system doesn't report it.
  let process: Int32?

  init(event: Event, _ places: SocketPlaces, process: Int32?) {
    self.event = event
    (socket, readings_socket) = (places.bridge, places.readings)
    self.process = process
  }
}
