// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// The rules for commands and replies of the EV3: commands are sent in order, replies are matched by their number, and
/// there are never more unanswered commands than the brick has room for.
///
/// A brick that gets commands faster than it runs them drops the link. So after a command with a reply, nothing is sent
/// until the reply has come. (This is needed in any case, because a new direct command stops the running one of the
/// same host.) Commands without a reply are sent until a limit of commands or bytes is reached. Then a marker follows,
/// which is a command with a reply, and the next command waits for that reply. The marker is LIST_OPEN_HANDLES: the
/// brick replies to it when it has read everything before it, it changes nothing, and it doesn't end a running program,
/// as even a NOP would.
///
/// Commands are never repeated: the transports lose no bytes, and a motor that turns twice is worse than an error.
public struct EV3Exchange: Exchange {
  /// The settings of the exchange.
  public struct Options: Sendable, Hashable {
    /// Timeout for a reply, unless a request has its own. The default is 3 s.
    public var timeout = Duration.seconds(3)
    /// How often the first message, which changes nothing, is sent before contact fails. The default is 3.
    public var tries = 3
    /// When the next command may be sent. With `gap` there are no markers: only the gap paces commands without a reply,
    /// as in LEGO's SDK for iOS, which waits 125 ms.
    public var pacing = Pacing.reply
    /// The most commands without a reply that may follow the last answered one. The default is 4.
    public var unansweredCommands = 4
    /// The most bytes of these commands together; a single command may be longer. The default is 1,024.
    public var unansweredBytes = 1_024
    /// The most commands that may wait to be sent. The default is 64.
    public var queueLimit = 64
    /// Which command fails with `busy` when the queue is full; the new one by default.
    public var overflow = Overflow.refuse

    /// The defaults.
    public init() {}
  }

  /// The codec that finds messages.
  public var codec = EV3Limits.codec
  /// The counters so far. Markers count as requests.
  public internal(set) var counters = LinkCounters()

  let options: Options
  let label: String
  var timing = LineTiming.instant
  var nextNumber: UInt16
  var history = NumberHistory()
  var queue: RequestQueue<EV3Request>
  /// Commands that were sent and aren't answered yet, oldest first.
  var outstanding: [Attempt] = []
  /// The commands without a reply that were sent so far, and their bytes.
  var sent = Amount()
  /// The part of `sent` that the brick has certainly read.
  var confirmed = Amount()
  /// When the next command may be sent, by the pacing's gap.
  var nextSending = MonotonicTime(nanoseconds: .min)
  var phase = Phase.closed

  enum Phase: Sendable {
    case closed
    case ready
    case ended(AccessoryError)
  }

  /// A number of commands and of bytes.
  struct Amount: Sendable {
    var commands = 0
    var bytes = 0
  }

  /// An outstanding command with a reply.
  struct Attempt: Sendable {
    enum Purpose: Sendable {
      case request(RequestID)
      case opening(RequestID)
      /// Its reply shows that the brick has read everything that was sent before.
      case marker
    }

    var purpose: Purpose
    var number: UInt16
    var request: EV3Request
    var tries = 1
    var deadline: MonotonicTime
    /// The value of the exchange's `sent` when the command was sent.
    var sent: Amount

    var id: RequestID? {
      switch purpose {
      case .request(let id), .opening(let id): id
      case .marker: nil
      }
    }
  }

  /// Rules for a newly opened accessory. `firstNumber` is random by default, so that a late reply to an earlier process
  /// isn't taken for a reply to this process.
  public init(label: String, options: Options = Options(), firstNumber: UInt16 = .random(in: 0 ... .max)) {
    self.label = label
    self.options = options
    nextNumber = firstNumber
    queue = RequestQueue(limit: options.queueLimit, overflow: options.overflow)
  }

  /// Sets how long bytes take on the line.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When an outstanding command must fail, or the next command may be sent.
  public var deadline: MonotonicTime? {
    let next = !queue.isEmpty && options.pacing.gap > .zero && hasRoom ? nextSending : nil
    return (outstanding.map(\.deadline) + [next].compactMap { $0 }).min()
  }

  /// Asks for the open handles. An accessory that replies is an EV3.
  public mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<EV3Message?, EV3Message>) {
    send(.marker, for: .opening(id), now: now, effects: &effects)
  }

  /// Queues a command. A command without a reply is completed, with nil, when it is sent.
  public mutating func submit(
    _ id: RequestID, _ request: EV3Request, now: MonotonicTime, effects: inout Effects<EV3Message?, EV3Message>
  ) {
    func refuse(_ error: AccessoryError) { effects.completions.append((id, .failure(error))) }
    switch phase {
    case .ended(let error): return refuse(error)
    case .closed: return refuse(AccessoryError(.ioFailure, "\(label) can't take requests before its link is opened"))
    case .ready: break
    }
    guard 3 + request.body.count <= EV3Limits.messageBehindLength else {
      let count = 3 + request.body.count
      return refuse(
        AccessoryError(
          .misconfigured,
          "a message of \(count) bytes is too long for \(label), which takes at most \(EV3Limits.messageBehindLength)"))
    }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  /// Cancels a command. If it was sent, the brick may run it; its reply is dropped.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<EV3Message?, EV3Message>) {
    if let index = outstanding.firstIndex(where: { $0.id == id }) {
      history.record(outstanding.remove(at: index).number, .givenUp)
    } else if !queue.remove(id) {
      return
    }
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a command to \(label) was cancelled"))))
    sendNext(now: now, effects: &effects)
  }

  /// Fails all waiting commands, and every later one, with `error`.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<EV3Message?, EV3Message>) {
    if case .ended = phase { return }
    phase = .ended(error)
    for id in outstanding.compactMap(\.id) + queue.removeAll() { effects.completions.append((id, .failure(error))) }
    outstanding = []
    (effects.output, effects.messages) = ([], [])
  }
}
