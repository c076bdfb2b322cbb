// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CLibsystemd
import Glibc
import SystemPackage

/// A connection to the system bus, served by the I/O thread: its socket and its timeouts are events like all others.
///
/// Signals are passed to `onSignal`, and the end of the connection to `onEnd`, both on the I/O thread.
package actor BusConnection: EventHandler, IOWork, IOActor {
  package nonisolated let io: IOThread
  private let onSignal: @Sendable (BusMessage) -> Void
  private let onEnd: @Sendable (BusFailure) -> Void
  private var bus: SystemBus?
  private var descriptor: FileDescriptor?
  private var token: EventToken?
  private var interest: Interest = []
  private var timer: TimerToken?
  private var deadline: MonotonicTime?
  /// The active match rules for signals.
  private var rules: [OpaquePointer] = []
  /// The signal being processed. Several rules may match it.
  private var current: OpaquePointer?
  private var calls: [ObjectIdentifier: PendingCall] = [:]
  /// The handlers for calls of our objects, by path.
  private var served: [String: @Sendable (BusRequest) -> Void] = [:]
  /// The same for objects and all below them.
  private var trees: [String: @Sendable (BusRequest) -> Void] = [:]
  /// Unanswered calls to our objects. Each retains its message.
  private var requests: [Int: OpaquePointer] = [:]
  private var nextRequest = 0

  /// The most messages processed for one event, so that a busy bus doesn't delay devices.
  private static let messagesPerEvent = 32
  /// How much later than sd-bus this connection times a call out, so that sd-bus's own error comes first.
  private static let grace = Duration.milliseconds(100)
  /// The most calls that wait for a reply.
  private static let callLimit = 256
  /// The most calls of our objects that wait for an answer; further ones are refused.
  private static let requestLimit = 128

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A connection that isn't open yet.
  package init(
    io: IOThread, onSignal: @escaping @Sendable (BusMessage) -> Void, onEnd: @escaping @Sendable (BusFailure) -> Void
  ) {
    (self.io, self.onSignal, self.onEnd) = (io, onSignal, onEnd)
  }

  /// Connects to the bus at `address`, by default the system bus, and asks for the signals that match `rules`. Throws
  /// if nothing listens there; later errors are passed to `onEnd`.
  package func open(_ address: String? = nil, rules: [String]) throws(BusFailure) {
    do throws(Errno) {
      let bus = try SystemBus.open(address)
      self.bus = bus
      let descriptor = try bus.descriptor()
      token = try io.watch(descriptor, for: [], handler: self)
      self.descriptor = descriptor
      try watch(rules)
    } catch {
      end(BusFailure(error), telling: false)
      throw BusFailure(error)
    }
  }

  /// Replaces the match rules by `rules`. The old rules stay until the bus has confirmed the new ones.
  package func watchOnly(_ rules: [String]) async throws(BusFailure) {
    let before = self.rules.count
    do throws(Errno) {
      try watch(rules)
    } catch {
      throw BusFailure(error)
    }
    // sd-bus passes no signal to a rule until the bus has confirmed it, so the rules from before stay until then. The
    // bus answers in order. (The system bus lets nobody call `Ping`.)
    let name = "org.freedesktop.DBus"
    _ = try await call(BusCall(name, "/org/freedesktop/DBus", name, "GetId"))
    guard let bus else { throw .disconnected }
    for rule in self.rules.prefix(before) { bus.unwatch(rule) }
    self.rules.removeFirst(before)
    rearm()
  }

  private func watch(_ texts: [String]) throws(Errno) {
    guard let bus else { return }
    let context = Unmanaged.passUnretained(self).toOpaque()
    // The connection outlives its bus: the I/O thread retains it until `end`.
    for text in texts { rules.append(try bus.watch(text, context, signalCallback)) }
    rearm()
  }

  /// Makes a call, and returns the reply. sd-bus starts to count `limit` when the bus has authenticated this program. A stopped bus
  /// never does, so the time is also counted here.
  package func call(_ call: BusCall, within limit: Duration = .seconds(10)) async throws(BusFailure) -> BusMessage {
    guard let bus else { throw .disconnected }
    guard calls.count < Self.callLimit else { throw BusFailure(Errno.resourceBusy) }
    let pending = PendingCall(self)
    calls[ObjectIdentifier(pending)] = pending
    do throws(Errno) {
      try bus.send(call, within: limit, Unmanaged.passUnretained(pending).toOpaque(), replyCallback)
    } catch {
      calls[ObjectIdentifier(pending)] = nil
      throw BusFailure(error)
    }
    rearm()
    let timer = io.schedule(at: io.now + limit + Self.grace) {
      pending.reply.finish(.failure(BusFailure(Errno.timedOut)))
    }
    let reply = await pending.reply.value(whenCancelled: .failure(.cancelled))
    io.cancel(timer)
    return try reply.get()
  }

  /// Sends a call and ignores its reply.
  package func post(_ call: BusCall, within limit: Duration = .seconds(10)) {
    guard let bus, calls.count < Self.callLimit else { return }
    let pending = PendingCall(self)
    calls[ObjectIdentifier(pending)] = pending
    do throws(Errno) {
      try bus.send(call, within: limit, Unmanaged.passUnretained(pending).toOpaque(), replyCallback)
      rearm()
    } catch {
      calls[ObjectIdentifier(pending)] = nil
    }
  }

  /// Makes an object at `path`. `body` is called on the I/O thread with each call of its methods, from any caller, and
  /// must answer each.
  package func serve(_ path: String, _ body: @escaping @Sendable (BusRequest) -> Void) throws(BusFailure) {
    guard let bus else { throw .disconnected }
    // An object stays registered until the bus is closed.
    guard served.updateValue(body, forKey: path) == nil else { return }
    do throws(Errno) {
      try bus.serve(path, Unmanaged.passUnretained(self).toOpaque(), requestCallback)
    } catch {
      served[path] = nil
      throw BusFailure(error)
    }
  }

  /// Like `serve`, for the object at `path` and all objects below it.
  package func serveTree(_ path: String, _ body: @escaping @Sendable (BusRequest) -> Void) throws(BusFailure) {
    guard let bus else { throw .disconnected }
    guard trees.updateValue(body, forKey: path) == nil else { return }
    do throws(Errno) {
      try bus.serveTree(path, Unmanaged.passUnretained(self).toOpaque(), requestCallback)
    } catch {
      trees[path] = nil
      throw BusFailure(error)
    }
  }

  /// Sends a signal from one of our objects.
  package func signal(_ path: String, _ interface: String, _ member: String, _ values: [BusArgument]) {
    guard let bus else { return }
    // If sending fails, the connection has ended, which is reported elsewhere.
    try? bus.signal(path, interface, member, values)
    rearm()
  }

  /// Answers a call to one of our objects. Only the first answer counts.
  package func answer(_ request: Int, _ result: Result<[BusArgument], BusFailure>) {
    guard let bus, let message = requests.removeValue(forKey: request) else { return }
    defer { sd_bus_message_unref(message) }
    // If sending fails, the connection has ended, which is reported elsewhere.
    try? bus.answer(message, result)
    rearm()
  }

  /// Ends the connection. `onEnd` isn't called.
  package func close() { end(.disconnected, telling: false) }

  /// Starts `close()` without waiting for it.
  package nonisolated func beginClose() { io.post { self.enter { $0.close() } } }

  // MARK: - Events

  /// The I/O thread calls this when the socket is ready.
  package nonisolated func ready(_ readiness: Readiness) { enter { $0.process() } }

  /// The I/O thread calls this when more messages wait.
  package nonisolated func perform() { enter { $0.process() } }

  private func process() {
    do throws(Errno) {
      for _ in 0..<Self.messagesPerEvent {
        guard let bus else { return }
        current = nil
        if try !bus.process() { return rearm() }
      }
      rearm()
      io.post(self)
    } catch {
      end(BusFailure(error), telling: true)
    }
  }

  /// Updates what the I/O thread waits for on behalf of sd-bus. Called after everything that may change it.
  private func rearm() {
    guard let bus, let descriptor, let token else { return }
    do throws(Errno) {
      let wanted = try bus.interest()
      if wanted != interest { try io.change(descriptor, token, to: wanted) }
      interest = wanted
    } catch {
      // Later, because the caller may be in the middle of a call.
      return io.post { self.enter { $0.end(BusFailure(error), telling: true) } }
    }
    let wanted = bus.deadline()
    guard wanted != deadline else { return }
    if let timer { io.cancel(timer) }
    deadline = wanted
    timer = wanted.map { time in io.schedule(at: time) { self.enter { $0.timeIsUp() } } }
  }

  private func timeIsUp() {
    (timer, deadline) = (nil, nil)
    process()
  }

  private func end(_ failure: BusFailure, telling: Bool) {
    guard let bus else { return }
    self.bus = nil
    if let timer { io.cancel(timer) }
    (timer, deadline) = (nil, nil)
    if let descriptor, let token { io.unwatch(descriptor, token) }
    (descriptor, token) = (nil, nil)
    for message in requests.values { sd_bus_message_unref(message) }
    (requests, served, trees) = ([:], [:], [:])
    for rule in rules { bus.unwatch(rule) }
    rules = []
    bus.close()
    let waiting = calls.values
    calls = [:]
    for call in waiting { call.reply.finish(.failure(telling ? failure : .disconnected)) }
    if telling { onEnd(failure) }
  }

  // MARK: - Callbacks of sd-bus

  fileprivate nonisolated func received(_ message: OpaquePointer) {
    // A pointer of C isn't Sendable, but this stays on the I/O thread.
    nonisolated(unsafe) let message = message
    enter(message) { connection, message in
      guard connection.current != message else { return }
      connection.current = message
      // Drop an invalid signal.
      if case .success(let message) = BusReader.read(message) { connection.onSignal(message) }
    }
  }

  /// Handles a call to one of our objects. Returns false to refuse it.
  fileprivate nonisolated func asked(_ message: OpaquePointer) -> Bool {
    guard case .success(let read) = BusReader.read(message) else { return false }
    // A pointer of C isn't Sendable, but this stays on the I/O thread.
    nonisolated(unsafe) let message = message
    return enter(read) { connection, read in
      guard let body = connection.handler(of: read.path), connection.requests.count < Self.requestLimit else {
        return false
      }
      let id = connection.nextRequest
      connection.nextRequest += 1
      let expectsReply = sd_bus_message_get_expect_reply(message) > 0
      if expectsReply { connection.requests[id] = sd_bus_message_ref(message) }
      body(BusRequest(id: id, message: read, expectsReply: expectsReply))
      return true
    }
  }

  private func handler(of path: String) -> (@Sendable (BusRequest) -> Void)? {
    served[path] ?? trees.first { path == $0.key || path.hasPrefix($0.key + "/") }?.value
  }

  fileprivate nonisolated func finish(_ call: PendingCall, _ result: Result<BusMessage, BusFailure>) {
    enter { $0.calls[ObjectIdentifier(call)] = nil }
    call.reply.finish(result)
  }
}

/// A call whose reply hasn't come. The connection retains it until then.
private final class PendingCall: Sendable {
  let connection: BusConnection
  let reply = OneShot<Result<BusMessage, BusFailure>>()

  init(_ connection: BusConnection) { self.connection = connection }
}

/// Called by sd-bus with a signal.
private func signalCallback(
  _ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<sd_bus_error>?
) -> CInt {
  guard let message, let context else { return 0 }
  Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue().received(message)
  return 0
}

/// Called by sd-bus with a call to one of our objects. The connection answers it later; if this returns an errno, sd-bus answers with
/// that.
private func requestCallback(
  _ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<sd_bus_error>?
) -> CInt {
  guard let message, let context else { return 0 }
  return Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue().asked(message) ? 1 : -EBUSY
}

/// Called by sd-bus with a reply, an error, or a timeout.
private func replyCallback(
  _ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<sd_bus_error>?
) -> CInt {
  guard let message, let context else { return 0 }
  let call = Unmanaged<PendingCall>.fromOpaque(context).takeUnretainedValue()
  call.connection.finish(call, BusReader.read(message))
  return 0
}
