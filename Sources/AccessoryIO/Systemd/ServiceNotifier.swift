// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Reports the state of this process to its service manager: systemd, or another one that sets `NOTIFY_SOCKET`
/// (sd_notify(3)).
///
/// Does nothing without a manager, and drops messages while the manager doesn't listen. No call blocks: while the
/// manager's socket is full, the last message of each kind is kept and sent later.
package actor ServiceNotifier: EventHandler {
  private nonisolated let io: IOThread
  private let address: Address?
  /// Half of the watchdog timeout; nil when the manager has no watchdog for this service.
  package nonisolated let watchdogInterval: Duration?
  private var socket: FileDescriptor?
  /// Messages that the manager hasn't taken yet, in order; at most one of each kind.
  private var waiting: [ServiceState] = []
  private var watch: EventToken?
  private var watchdog: TimerToken?
  private var proof: (@Sendable () async -> Void)?
  /// True while `proof` runs.
  private var isProving = false

  private enum Address: Sendable {
    case path(String)
    case abstract([UInt8])
  }

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A notifier for the manager that this process's environment names.
  package init(io: IOThread = .shared) {
    self.init(io: io) { name in getenv(name).map { String(cString: $0) } }
  }

  /// A notifier for the manager that these variables name: `NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`.
  package init(io: IOThread, variable: (String) -> String?) {
    self.io = io
    let address = variable("NOTIFY_SOCKET").flatMap(Self.address)
    self.address = address
    watchdogInterval = address == nil ? nil : Self.interval(variable)
  }

  deinit { if let socket { SystemCall.close(socket) } }

  /// A path, or an abstract name after an `@`. Other addresses, such as vsock for virtual machines, aren't supported.
  private static func address(_ text: String) -> Address? {
    if text.hasPrefix("/") { return .path(text) }
    if text.hasPrefix("@"), text.utf8.count > 1 { return .abstract(Array(text.utf8.dropFirst())) }
    return nil
  }

  private static func interval(_ variable: (String) -> String?) -> Duration? {
    guard let time = variable("WATCHDOG_USEC").flatMap(Int64.init), time >= 2 else { return nil }
    if let process = variable("WATCHDOG_PID"), process != String(getpid()) { return nil }
    return .microseconds(time / 2)
  }

  // MARK: - Messages

  /// Whether there is a manager to report to.
  package nonisolated var isWanted: Bool { address != nil }

  /// Reports these states in this order. When it returns, the manager has received them, unless its socket is full.
  package func report(_ states: ServiceState...) { for state in states { report(state) } }

  /// Whether messages still wait to be sent.
  package var isBehind: Bool { !waiting.isEmpty }

  private func report(_ state: ServiceState) {
    guard address != nil else { return }
    // Only the latest message of each kind is kept, so the list doesn't grow.
    waiting.removeAll { $0.isOfTheKind(of: state) }
    waiting.append(state)
    send()
  }

  /// Starts to send watchdog messages, if the manager wants them; the manager restarts the service when they stop. Each
  /// message shows that the I/O thread runs and that `proof` has returned; `proof` should run where the service does
  /// its work. No message is sent while `proof` runs. Call this once.
  package func startWatchdog(_ proof: (@Sendable () async -> Void)? = nil) {
    guard watchdog == nil, let watchdogInterval else { return }
    self.proof = proof
    watchdog = io.schedule(at: io.now + watchdogInterval) { [weak self] in
      self?.assumeIsolated { notifier in
        notifier.watchdog = nil
        notifier.startWatchdog(proof)
      }
    }
    showLife()
  }

  private func showLife() {
    guard let proof else { return report(.watchdog) }
    guard !isProving else { return }
    isProving = true
    Task.detached { [weak self] in
      await proof()
      await self?.proved()
    }
  }

  private func proved() {
    isProving = false
    report(.watchdog)
  }

  /// The I/O thread calls this when the manager's socket has room.
  package nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.send() } }

  private func send() {
    while let state = waiting.first {
      do throws(Errno) {
        let socket = try connected()
        let message = state.message(now: io.now)
        guard try Socket.send(message[...], to: socket) == message.count else { throw .messageTooLong }
        waiting.removeFirst()
      } catch .wouldBlock {
        if watch == nil, let socket { watch = try? io.watch(socket, for: .write, handler: self) }
        return
      } catch {
        // The manager doesn't listen. If it listens later, it gets later messages.
        waiting.removeAll()
        disconnect()
        return
      }
    }
    unwatch()
  }

  private func connected() throws(Errno) -> FileDescriptor {
    if let socket { return socket }
    let new = try UnixSocket.create(.datagram)
    do throws(Errno) {
      switch address {
      case .path(let path): try UnixSocket.connect(new, to: path)
      case .abstract(let name): try UnixSocket.connect(new, toAbstract: name)
      case nil: throw .addressFamilyNotSupported
      }
    } catch {
      Socket.close(new)
      throw error
    }
    socket = new
    return new
  }

  private func unwatch() {
    if let watch, let socket { io.unwatch(socket, watch) }
    watch = nil
  }

  private func disconnect() {
    unwatch()
    if let socket { Socket.close(socket) }
    socket = nil
  }
}

extension ServiceState {
  /// Whether this message replaces `other`, which waits to be sent.
  fileprivate func isOfTheKind(of other: ServiceState) -> Bool {
    if case .status = self, case .status = other { return true }
    return self == other
  }
}
