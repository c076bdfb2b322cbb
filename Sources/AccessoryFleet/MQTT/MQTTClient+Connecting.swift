// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

// Connecting, and the pause until the next attempt.

extension MQTTClient {
  /// The time from the TCP connection to CONNACK. After a few attempts it gets longer, for slow networks.
  private static let answerTimes = (quick: Duration.seconds(5), slow: Duration.seconds(20), quickTries: 6)
  /// After this many milliseconds without an acknowledgement the kernel drops the connection. Its default is 15 minutes.
  private static let lostAfter: CInt = 10_000

  func connect() {
    state = .connecting
    attempt += 1
    let (number, settings) = (attempt, settings)
    let time = backoff.count < Self.answerTimes.quickTries ? Self.answerTimes.quick : Self.answerTimes.slow
    let broker = settings.broker
    deadlineTimer = schedule(in: time) {
      $0.failed(AccessoryError(.timedOut, "the broker \(broker) did not answer in time"))
    }
    setup.post { [weak self] in
      let result = Result { () throws(AccessoryError) in
        HandedOver(connection: try MosquittoConnection(settings))
      }
      guard let self else { return }
      self.io.post { self.enter { $0.opened(result, attempt: number) } }
    }
  }

  private func opened(_ result: Result<HandedOver, AccessoryError>, attempt number: Int) {
    guard case .connecting = state, number == attempt else {
      // The client has given this attempt up.
      if case .success(let late) = result { late.connection.destroy() }
      return
    }
    switch result {
    case .failure(let error): failed(error)
    case .success(let handed): begin(handed.connection)
    }
  }

  private func begin(_ connection: MosquittoConnection) {
    guard let socket = connection.socket else {
      return failed(AccessoryError(.disconnected, "the connection to \(settings.broker) has failed"))
    }
    var open: OpenConnection?
    do throws(Errno) {
      let new = OpenConnection(
        connection, try BrokerSocket(socket), keepalive: .seconds(settings.keepalive), now: io.now)
      open = new
      var time = Self.lostAfter
      setsockopt(
        new.socket.descriptor.rawValue, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &time, socklen_t(MemoryLayout<CInt>.size))
      new.interest = [.read, .write]
      new.token = try io.watch(new.socket.descriptor, for: new.interest, handler: self)
      state = .open(new)
    } catch {
      connection.destroy()
      open?.socket.close()
      failed(AccessoryError(errno: error, "watching the connection to \(settings.broker)"))
    }
  }

  /// An attempt has failed or a connection has ended.
  func failed(_ error: AccessoryError) {
    var pauseFrom = io.now
    if case .open(let open) = state {
      outbox.putBack(open.sent.sorted { $0.key < $1.key }.map(\.value))
      if open.isAccepted {
        backoff.connectionEnded(start: open.start, now: io.now)
      } else {
        pauseFrom = open.start
      }
      release(open)
    }
    cancelTimers()
    guard stopWaiter == nil else { return end() }
    state = .idle
    // The duration of the attempt counts as part of the pause.
    let pause = max(.milliseconds(500), backoff.next(now: io.now) - (io.now - pauseFrom))
    report(.disconnected(error, retry: pause))
    retryTimer = schedule(in: pause) { $0.start() }
  }

  func release(_ open: OpenConnection) {
    if let token = open.token { io.unwatch(open.socket.descriptor, token) }
    open.token = nil
    open.connection.destroy()
    open.socket.close()
  }

  func schedule(in time: Duration, _ action: @escaping @Sendable (isolated MQTTClient) -> Void) -> TimerToken {
    io.schedule(at: io.now + time) { [weak self] in self?.enter { action($0) } }
  }

  func cancelTimers() {
    for timer in [retryTimer, deadlineTimer, keepaliveTimer, pingTimer] { if let timer { io.cancel(timer) } }
    (retryTimer, deadlineTimer, keepaliveTimer, pingTimer) = (nil, nil, nil, nil)
  }
}

/// A connection that the setup queue hands to the I/O thread.
private struct HandedOver: @unchecked Sendable {
  // Sendable is safe: the setup queue keeps no reference to the connection after posting this value. From then on only the I/O thread
  // uses it.
  let connection: MosquittoConnection
}
