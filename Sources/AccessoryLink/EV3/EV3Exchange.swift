// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The rules for commands and replies of the EV3: commands are sent in order, replies are matched by their counter, and
/// there are never more unanswered commands than the brick has room for.
///
/// A brick that gets commands faster than it runs them drops the link. After a command with a reply nothing is sent
/// until the reply has come. (This is needed in any case, as a new direct command stops the running one of the same
/// host.) Of commands without a reply only so many are sent, by number and by bytes, behind the last one that was
/// answered; then a marker follows that is answered, and the next command waits for that. The marker is
/// LIST_OPEN_HANDLES: the brick answers it when it has read all before it, it changes nothing, and it doesn't end code
/// that runs, as even a NOP would.
///
/// Commands are never repeated: the transports lose no bytes, and a motor that turns twice is worse than an error.
public struct EV3Exchange: Exchange {
  /// What can be set.
  public struct Options: Sendable, Hashable {
    /// Time for an answer, unless a request has its own. The default is 3 s.
    public var timeout = Duration.seconds(3)
    /// Times that the first message, which changes nothing, is sent before contact is given up. The default is 3.
    public var tries = 3
    /// When the next command may be sent. With `gap` there are no markers: the time alone paces commands without a reply,
    /// as in LEGO's SDK for iOS, which waits 125 ms.
    public var pacing = Pacing.reply
    /// Commands without a reply that may follow the last answered one. The default is 4.
    public var unansweredCommands = 4
    /// The bytes of these; one command may be longer. The default is 1,024.
    public var unansweredBytes = 1_024
    /// Commands that may wait for their turn. The default is 64.
    public var queueLimit = 64
    /// Which command fails with `busy` when too many wait; the new one by default.
    public var overflow = Overflow.refuse

    /// The defaults.
    public init() {}
  }

  /// The framing.
  public var codec = EV3Limits.codec
  /// The counters so far. Markers count as requests.
  public internal(set) var counters = LinkCounters()

  let options: Options
  let label: String
  var timing = LineTiming.instant
  var nextNumber: UInt16
  var history = NumberHistory()
  var queue: RequestQueue<EV3Request>
  /// Requests that were sent and not answered yet, oldest first.
  var outstanding: [Attempt] = []
  /// Commands without a reply, and their bytes, that were ever sent.
  var sent = Amount()
  /// Those of them that the brick has read for sure.
  var confirmed = Amount()
  /// When the next command may be sent, by the pacing's gap.
  var nextSending = MonotonicTime(nanoseconds: .min)
  var phase = Phase.closed

  enum Phase: Sendable {
    case closed
    case ready
    case ended(AccessoryError)
  }

  /// Commands and bytes.
  struct Amount: Sendable {
    var commands = 0
    var bytes = 0
  }

  /// A command on its way that will be answered.
  struct Attempt: Sendable {
    enum Purpose: Sendable {
      case request(RequestID)
      case opening(RequestID)
      /// To learn that what was sent before has been read.
      case marker
    }

    var purpose: Purpose
    var number: UInt16
    var request: EV3Request
    var tries = 1
    var deadline: MonotonicTime
    /// What had been sent when it was.
    var sent: Amount

    var id: RequestID? {
      switch purpose {
      case .request(let id), .opening(let id): id
      case .marker: nil
      }
    }
  }

  /// Rules for a new opening. `firstNumber` is random by default, so that no late answer to an earlier process is taken
  /// for one to this process.
  public init(label: String, options: Options = Options(), firstNumber: UInt16 = .random(in: 0 ... .max)) {
    self.label = label
    self.options = options
    nextNumber = firstNumber
    queue = RequestQueue(limit: options.queueLimit, overflow: options.overflow)
  }

  /// Learns how long bytes take.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When an outstanding command must be given up, or the next command may be sent.
  public var deadline: MonotonicTime? {
    let next = !queue.isEmpty && options.pacing.gap > .zero && hasRoom ? nextSending : nil
    return (outstanding.map(\.deadline) + [next].compactMap { $0 }).min()
  }

  /// Asks for the open handles; whatever answers this is an EV3.
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
    case .closed: return refuse(AccessoryError(.ioFailure, "\(label) has not been asked for contact"))
    case .ready: break
    }
    guard 3 + request.body.count <= EV3Limits.messageBehindLength else {
      let count = 3 + request.body.count
      return refuse(
        AccessoryError(
          .misconfigured,
          "\(count) bytes are too many for \(label): a message has at most \(EV3Limits.messageBehindLength)"))
    }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  /// Gives up a command. If it was sent, the brick may run it; its reply will be dropped.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<EV3Message?, EV3Message>) {
    if let index = outstanding.firstIndex(where: { $0.id == id }) {
      history.record(outstanding.remove(at: index).number, .givenUp)
    } else if !queue.remove(id) {
      return
    }
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a command to \(label) was cancelled"))))
    sendNext(now: now, effects: &effects)
  }

  /// Fails everything that waits, and all that comes.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<EV3Message?, EV3Message>) {
    if case .ended = phase { return }
    phase = .ended(error)
    for id in outstanding.compactMap(\.id) + queue.removeAll() { effects.completions.append((id, .failure(error))) }
    outstanding = []
    (effects.output, effects.messages) = ([], [])
  }
}
