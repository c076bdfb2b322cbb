// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

// What is done when the socket is ready.

extension MQTTClient {
  /// The most calls of the library's read for one event.
  private static let readLimit = 64

  /// The I/O thread calls this when the socket is ready.
  package nonisolated func ready(_ readiness: Readiness) { enter(readiness) { $0.handle($1) } }

  func handle(_ readiness: Readiness) {
    guard case .open(let open) = state else { return }
    var (result, mayHaveMore): (CInt, Bool) = (0, false)
    if !readiness.isDisjoint(with: [.readable, .hangUp, .error]) || (settings.broker.usesTLS && !open.isAccepted) {
      open.lastInput = io.now
      cancelPing()
      for _ in 0..<Self.readLimit {
        (result, mayHaveMore) = open.connection.read()
        guard take(open), result == 0 else { break }
        if !mayHaveMore || isFull { break }
      }
      guard isCurrent(open) else { return }
      // A connection that was refused while TLS began has no error left, and the library doesn't notice.
      let isOver = readiness.contains(.hangUp) && (!mayHaveMore || !open.isAccepted)
      if result == 0, isOver || readiness.contains(.error) { return lostBySocket(open) }
      if result == 0, isTooLong(open) {
        return lost(
          open,
          AccessoryError(
            .badData, "\(settings.broker) sends a packet of more than \(MosquittoConnection.packetLimit) bytes"))
      }
    }
    if result == 0, readiness.contains(.writable) {
      result = open.connection.write()
      open.lastOutput = io.now
    }
    finish(open, result)
  }

  /// Does what the events say, and ends the connection where it is over.
  func finish(_ open: OpenConnection, _ result: CInt) {
    guard take(open) else { return }
    guard result == 0, open.connection.socket != nil else {
      return lost(
        open,
        open.connection.failure(result == 0 ? MQTTLibrary.connectionLost : result, errno: errno, "\(settings.broker)"))
    }
    advance(open)
  }

  func isCurrent(_ open: OpenConnection) -> Bool {
    if case .open(let current) = state { current === open } else { false }
  }

  /// Sends what waits, as far as there is room, and watches for what comes next.
  func advance(_ open: OpenConnection) {
    var result: CInt = 0
    while open.isAccepted, !open.isLeaving, farewell == nil, open.sent.count < MosquittoConnection.inFlightLimit,
      !open.connection.wantsToWrite, let message = outbox.next()
    {
      switch open.connection.publish(message) {
      case .success(let number):
        if message.qos == .atLeastOnce { open.sent[number] = message }
        open.lastOutput = io.now
      case .failure(let error) where error.kind == .disconnected:
        outbox.putBack([message])
        result = MQTTLibrary.connectionLost
      case .failure(let error): report(.refused(topic: message.topic, error))
      }
      if result != 0 { break }
    }
    guard take(open) else { return }
    if result != 0 || open.connection.socket == nil {
      return lost(open, open.connection.failure(MQTTLibrary.connectionLost, "\(settings.broker)"))
    }
    if open.isLeaving, !open.connection.wantsToWrite { return end() }
    updateInterest(open)
    scheduleKeepalive(open)
  }

  private func updateInterest(_ open: OpenConnection) {
    guard let token = open.token else { return }
    var interest: Interest = isFull ? [] : .read
    if open.connection.wantsToWrite { interest.insert(.write) }
    guard interest != open.interest else { return }
    open.interest = interest
    try? io.change(open.descriptor, token, to: interest)
  }

  /// A connection that was there is over, or was never accepted.
  func lost(_ open: OpenConnection, _ error: AccessoryError) {
    guard isCurrent(open) else { return }
    if open.isLeaving { return end() }
    if !open.isAccepted, settings.version == nil {
      // Old brokers end the connection of a version that they don't know, instead of refusing it.
      versionFailures += 1
      if versionFailures % 2 == 0 { version = version == .v5 ? .v311 : .v5 }
    }
    failed(explained(error, open))
  }

  /// Some brokers, such as mosquitto 2.0, end a connection without a reason when another client comes with the same identifier.
  private func explained(_ error: AccessoryError, _ open: OpenConnection) -> AccessoryError {
    guard open.isAccepted, io.now - open.start < .seconds(10) else {
      shortConnections = 0
      return error
    }
    shortConnections += 1
    guard shortConnections >= 3 else { return error }
    return AccessoryError(
      error.kind, code: error.code, error.message + ", soon after the connection. Perhaps " + rivalry)
  }

  /// Why a broker ends connections of a client that it accepts.
  var rivalry: String {
    "another client with the identifier \(settings.clientID) has connected: does bridge-fleet publish run twice for this "
      + "gateway, or do two machines have one /etc/machine-id?"
  }

  private func lostBySocket(_ open: OpenConnection) {
    var (number, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
    getsockopt(open.descriptor.rawValue, SOL_SOCKET, SO_ERROR, &number, &size)
    lost(open, AccessoryError(errno: Errno(rawValue: number == 0 ? ECONNRESET : number), "\(settings.broker)"))
  }

  /// Whether the broker has sent more than a packet may have, without a packet having come of it: the library would take
  /// 256 MiB.
  private func isTooLong(_ open: OpenConnection) -> Bool {
    guard let received = ReceivedBytes.count(open.descriptor) else { return false }
    return received &- open.receivedAtEvent > MosquittoConnection.packetLimit
  }
}
