// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// Runs the routing rules of one opened device on a serial dispatch queue of its own.
///
/// The I/O thread posts inputs. The queue handles them in the order in which they were posted, and the results come back to the I/O
/// thread: `onResults` is called there once for all results that are ready. The poster bounds the inputs: it posts no more bytes of the
/// device or of a client while too many of them are unhandled; see `FrameSharing`.
final class FrameRouter: IOWork {
  /// An event for the rules. Clients are identified by numbers.
  enum Input: Sendable {
    /// Adds a client. Without `allowsWrites` its requests that may change something in the accessory are refused.
    case add(Int, allowsWrites: Bool)
    case remove(Int)
    /// Bytes from a client.
    case take([UInt8], from: Int)
    /// Bytes from the device, with the lengths of its messages if its transport keeps message boundaries.
    case receive([UInt8], messages: [Int]?)
    /// How long bytes take on the line has changed.
    case timing(LineTiming)
    /// The rules' deadline was reached at this time.
    case timePassed(MonotonicTime)
    /// Messages may be sent to the device again.
    case space
    /// Return whether a request of the client is queued or unanswered.
    case ask(Int)
    /// The device is gone. `Results.hasEnded` follows the results of all inputs before this one.
    case end
  }

  /// What the rules have decided, in the order of the inputs.
  struct Results: Sendable {
    /// Messages to send to the device, each as a whole.
    var messages: [[UInt8]] = []
    /// Bytes for one client, or for all clients if `client` is nil.
    var deliveries: [(client: Int?, bytes: [UInt8])] = []
    var news: [RoutingNews] = []
    /// The answers to `ask`.
    var waitingClients: [(client: Int, isWaiting: Bool)] = []
    /// How many bytes of the device were decoded.
    var deviceCount = 0
    /// How many bytes of clients were decoded.
    var clientCounts: [(client: Int, count: Int)] = []
    /// How many inputs were handled.
    var inputCount = 0
    /// Whether `end` was handled.
    var hasEnded = false
    /// When `timePassed` must be posted next; nil while no timeout is set.
    var deadline: MonotonicTime?
    var statistics = RoutingStatistics()

    mutating func append(_ next: Results) {
      messages += next.messages
      deliveries += next.deliveries
      news += next.news
      waitingClients += next.waitingClients
      deviceCount += next.deviceCount
      clientCounts += next.clientCounts
      inputCount += next.inputCount
      hasEnded = hasEnded || next.hasEnded
      (deadline, statistics) = (next.deadline, next.statistics)
    }
  }

  /// The most bytes that are decoded before the results are returned and the thread is yielded to other queues. The last input may
  /// exceed it.
  static let turnSize = 32_768
  /// While this many bytes of messages aren't sent to the device, the rules send no new requests.
  static let unsentLimit = 16_384

  private let mail: Locked<RouterMail>
  private let rules: Locked<RouterRules>
  private let queue = DispatchExecutor(label: "accessory.router")
  private let io: IOThread
  private let clock: any TimerClock
  private let onResults: @Sendable (FrameRouter, Results) -> Void

  /// A router that sends nothing to the device until `sent(_:isBlocked:)` says that it may.
  init(
    _ routing: FrameRouting, io: IOThread, clock: any TimerClock,
    onResults: @escaping @Sendable (FrameRouter, Results) -> Void
  ) {
    mail = Locked(RouterMail())
    rules = Locked(RouterRules(routing.rules))
    (self.io, self.clock, self.onResults) = (io, clock, onResults)
  }

  // MARK: - The I/O thread

  func post(_ input: Input) { if mail.withLock({ $0.add(input) }) { wake() } }

  /// Takes note that the device's queue has accepted `count` bytes of messages, and whether it accepts more now.
  func sent(_ count: Int, isBlocked: Bool) { if mail.withLock({ $0.sent(count, isBlocked: isBlocked) }) { wake() } }

  /// Takes note that the results of this many inputs were carried out.
  func finished(_ inputCount: Int) { mail.withLock { $0.unfinished -= inputCount } }

  /// Whether the results of all inputs were carried out.
  var isIdle: Bool { mail.withLock { $0.unfinished == 0 } }

  /// Drops all inputs and results.
  func stop() { mail.withLock { $0.stop() } }

  /// The I/O thread calls this when there are results.
  func perform() { if let results = mail.withLock({ $0.takeResults() }) { onResults(self, results) } }

  // MARK: - The queue

  private func wake() { queue.post { self.turn() } }

  /// Handles some inputs, and returns their results to the I/O thread.
  private func turn() {
    let (inputs, unsent, isBlocked) = mail.withLock { $0.takeInputs() }
    let (results, wasBlocked) = rules.withLock {
      $0.handle(inputs, unsent: unsent, isBlocked: isBlocked, clock: clock)
    }
    let (mustPost, hasMore) = mail.withLock { $0.put(results, wasBlocked: wasBlocked) }
    if mustPost { io.post(self) }
    if hasMore { wake() }
  }
}
