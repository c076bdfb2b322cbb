// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

// Reading and writing when the socket is ready.

extension MQTTClient {
  /// The most calls of the library's read function per event.
  private static let readLimit = 64
  /// The most consecutive packets that have no effect, for example acknowledgements of messages that were never sent.
  private static let uselessLimit = 1_000

  /// Called on the I/O thread when the socket is ready.
  package nonisolated func ready(_ readiness: Readiness) { enter(readiness) { $0.handle($1) } }

  func handle(_ readiness: Readiness) {
    guard case .open(let open) = state else { return }
    var result: CInt = 0
    // A constant, because Swift 6.2 otherwise reports that `open` in the operand of an operator is sent to another isolation domain.
    let isAccepted = open.isAccepted
    if !readiness.isDisjoint(with: [.readable, .hangUp, .error]) || (settings.broker.usesTLS && !isAccepted) {
      open.lastInput = io.now
      cancelPing()
      do throws(Errno) { try open.socket.receive(self) } catch { return lost(open, by: error) }
      var mayHaveMore = false
      for _ in 0..<Self.readLimit {
        let hadPacket: Bool
        (result, hadPacket, mayHaveMore) = open.connection.read()
        if hadPacket { open.useless += 1 }
        guard take(open), result == 0 else { break }
        if isTooLong(open) { return lost(open, wrong("sends a packet of more than \(settings.longestPacket) bytes")) }
        if open.useless > Self.uselessLimit {
          return lost(open, wrong("sent replies to requests that were never made"))
        }
        if !mayHaveMore || isFull || open.isClogged { break }
      }
      guard isCurrent(open) else { return }
      // If the broker closes the connection during the TLS handshake, the socket has no pending error and the library doesn't notice.
      let isOver = open.socket.isAtEnd && (!mayHaveMore || !open.isAccepted)
      if result == 0, isOver || readiness.contains(.error) { return lost(open, by: pendingError(of: open)) }
      open.isUnread = mayHaveMore || open.socket.hasMore
    }
    if result == 0, readiness.contains(.writable) {
      result = open.connection.write()
      open.lastOutput = io.now
    }
    finish(open, result)
  }

  /// Sends what the library has written, and lets it write on while the broker takes it. Returns the library's code.
  private func flush(_ open: OpenConnection) throws(Errno) -> CInt {
    while try open.socket.send(self), open.connection.wantsToWrite, !open.socket.wantsToSend {
      let result = open.connection.write()
      guard result == 0 else { return result }
    }
    if !open.wantsToWrite { open.receivedAtSent = open.socket.received }
    return 0
  }

  /// Handles the reported events, and ends the connection if it is over.
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

  /// Sends waiting messages while there is room, then updates the events to wait for.
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
    do throws(Errno) { result = max(result, try flush(open)) } catch { return lost(open, by: error) }
    guard take(open) else { return }
    if result != 0 || open.connection.socket == nil {
      return lost(open, open.connection.failure(MQTTLibrary.connectionLost, "\(settings.broker)"))
    }
    if open.isLeaving, !open.wantsToWrite { return end() }
    updateInterest(open)
    scheduleKeepalive(open)
  }

  private func updateInterest(_ open: OpenConnection) {
    guard let token = open.token else { return }
    if open.isUnread, !isFull, !open.wantsToWrite {
      open.isUnread = false
      // After what the I/O thread has to do meanwhile.
      io.post { [weak self] in self?.enter { $0.handle(.readable) } }
    }
    var interest: Interest = isFull || open.isClogged ? [] : .read
    if open.wantsToWrite { interest.insert(.write) }
    guard interest != open.interest else { return }
    open.interest = interest
    try? io.change(open.socket.descriptor, token, to: interest)
  }

  /// A connection has ended, or the broker has refused it.
  func lost(_ open: OpenConnection, _ error: AccessoryError) {
    guard isCurrent(open) else { return }
    if open.isLeaving { return end() }
    failed(explained(error, open))
  }

  /// Some brokers, such as mosquitto 2.0, close a connection without a reason when another client connects with the same identifier.
  /// Adds that explanation.
  private func explained(_ error: AccessoryError, _ open: OpenConnection) -> AccessoryError {
    guard open.isAccepted, error.kind != .badData, io.now - open.start < .seconds(10) else {
      shortConnections = 0
      return error
    }
    shortConnections += 1
    guard shortConnections >= 3 else { return error }
    return AccessoryError(
      error.kind, code: error.code, error.message + ", soon after the connection. Perhaps " + rivalry)
  }

  /// The likely reason why a broker accepts a client and then disconnects it.
  var rivalry: String {
    "another client with the identifier \(settings.clientID) has connected: does bridge-fleet publish run twice for this "
      + "gateway, or do two machines have one /etc/machine-id?"
  }

  private func lost(_ open: OpenConnection, by number: Errno) {
    lost(open, AccessoryError(errno: number, "\(settings.broker)"))
  }

  private func pendingError(of open: OpenConnection) -> Errno {
    var (number, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
    getsockopt(open.socket.descriptor.rawValue, SOL_SOCKET, SO_ERROR, &number, &size)
    return Errno(rawValue: number == 0 ? ECONNRESET : number)
  }

  /// Whether the broker has sent more bytes than a packet may have before the library reported anything. The library itself would
  /// accept packets of 256 MiB.
  private func isTooLong(_ open: OpenConnection) -> Bool {
    open.socket.received - open.receivedAtEvent > settings.longestPacket
  }
}
