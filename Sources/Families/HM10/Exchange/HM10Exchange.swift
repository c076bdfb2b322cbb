// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// The rules for commands and replies of an HM-10 or HM-11: one command at a time, written in one piece. The next
/// command is sent when the previous reply has ended, which its pattern or silence shows.
///
/// AT makes contact, and ends a connection if there is one. It is sent without a line end first, and then with one: a
/// module that answers only the second form is a clone. While the module is connected, the line carries the
/// connection's data: commands fail with `busy`, except AT, which ends the connection.
public struct HM10Exchange: Exchange {
  /// The settings of the exchange.
  public struct Options: Sendable, Hashable {
    /// Timeout for a reply, not counting the time on the wire. The default is 1 s.
    public var timeout = HM10Limits.timeout
    /// Timeout for a connection, counted from the module's report that it tries to connect. The module gives up after
    /// 10 s by itself. The default is 12 s.
    public var connectTimeout = HM10Limits.connectTimeout + .seconds(2)
    /// Timeout from one device that a scan finds to the next, or to the scan's end. The default is 12 s.
    public var scanPause = Duration.seconds(12)
    /// Timeout for a whole scan. The default is 60 s.
    public var scanTimeout = Duration.seconds(60)
    /// The most devices that a scan keeps. The default is 256.
    public var scanLimit = 256
    /// Pause between a reply and the next command. The default is 20 ms.
    public var gap = Duration.milliseconds(20)
    /// Pause between data and the AT that ends the connection; without it, AT would be sent as data. The default is 100
    /// ms.
    public var pauseBehindData = Duration.milliseconds(100)
    /// Pause after the module was reset or renewed, or its speed changed. The default is 1 s.
    public var restart = HM10Limits.restart
    /// The most commands that may wait to be sent, and the most pieces of data that may wait for space. The default is
    /// 64.
    public var queueLimit = 64
    /// Which command fails with `busy` when the queue is full; the new one by default. Of data, it is always the new
    /// piece.
    public var overflow = Overflow.refuse

    /// The defaults.
    public init() {}
  }

  enum Phase: Sendable {
    case closed
    /// AT was sent. `next` is the index in `greetings` of the form that is sent at the deadline.
    case detecting(RequestID, next: Int, deadline: MonotonicTime)
    case ready
    case ended(AccessoryError)
  }

  /// The command that the module is carrying out.
  struct Work: Sendable {
    enum Stage: Sendable {
      case asked
      /// A scan, with the time at which it must have ended.
      case scanning(limit: MonotonicTime)
      case connecting
    }

    /// Nil when the request was cancelled.
    var id: RequestID?
    let command: HM10Command
    var stage = Stage.asked
    var deadline: MonotonicTime
    var scan: HM10Scan
    /// Whether the command ends a connection.
    var endsConnection = false
  }

  /// The codec that finds replies and data.
  public var codec = HM10LineCodec()
  /// The counters so far.
  public internal(set) var counters = LinkCounters()
  /// Whether there was a connection when contact was made, which this has ended.
  public internal(set) var endedConnection = false
  /// The address of the connected device, if the module reported it.
  public internal(set) var peer: BluetoothAddress?
  /// Whether there is a connection, so that the line carries data.
  public var isConnected: Bool { codec.isConnected }

  let options: Options
  let label: String
  var timing = LineTiming.instant
  var phase = Phase.closed
  /// When contact must have been made, however long an earlier program's scan lasts.
  var contactLimit = MonotonicTime(nanoseconds: .max)
  /// Whether the last greeting must be sent again: an earlier program's scan has ended, and the module ignored the
  /// greeting.
  var repeatsGreeting = false
  var queue: RequestQueue<HM10Command>
  /// Data that waits for space in the transport.
  var unsent: RequestQueue<[UInt8]>
  var work: Work?
  /// When all data that was sent will have passed the line.
  var dataEnd = MonotonicTime(nanoseconds: .min)
  /// When the next command may be sent.
  var nextSending = MonotonicTime(nanoseconds: .min)

  /// The forms in which AT is sent to detect the module. A clone that got AT without a line end treats the next AT with
  /// a line end as the rest of that command, so the form for clones is sent twice.
  static let greetings: [HM10Dialect] = [.genuine, .clone, .clone, .genuine]
  /// The silence after which an earlier program's scan counts as ended.
  static let scanPatience = Duration.seconds(2)

  /// Rules for a newly opened accessory.
  public init(label: String, options: Options = Options()) {
    self.label = label
    self.options = options
    queue = RequestQueue(limit: options.queueLimit, overflow: options.overflow)
    unsent = RequestQueue(limit: options.queueLimit)
  }

  /// Sets how long bytes take on the line.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When a command must fail, or the next command may be sent.
  public var deadline: MonotonicTime? {
    if case .detecting(_, _, let deadline) = phase { return deadline }
    if let work {
      if case .scanning(let limit) = work.stage { return min(work.deadline, limit) }
      return work.deadline
    }
    return queue.isEmpty ? nil : nextSending
  }

  /// Finds out whether a module answers, and which kind it is.
  public mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>) {
    contactLimit = now + options.scanTimeout
    greet(id, 0, now: now, effects: &effects)
  }

  /// Queues a request.
  public mutating func submit(
    _ id: RequestID, _ request: HM10Request, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    func refuse(_ error: AccessoryError) { effects.completions.append((id, .failure(error))) }
    switch phase {
    case .ended(let error): return refuse(error)
    case .closed, .detecting:
      return refuse(AccessoryError(.ioFailure, "\(label) can't take requests before its link is opened"))
    case .ready: break
    }
    switch request {
    case .data(let bytes):
      guard isConnected else { return refuse(AccessoryError(.disconnected, "\(label) is not connected to a device")) }
      unsent.admit(id, bytes, for: label, counters: &counters, effects: &effects)
      sendData(now: now, effects: &effects)
    case .command(let command):
      do throws(HM10CommandError) {
        _ = try command.encoded(for: codec.dialect)
      } catch {
        return refuse(AccessoryError(.misconfigured, "the command can't be sent to \(label): \(error)"))
      }
      if isConnected, command != .attention { return refuse(isBusy) }
      queue.admit(id, command, for: label, counters: &counters, effects: &effects)
      sendNext(now: now, effects: &effects)
    }
  }

  /// The error of a command while the module is connected.
  var isBusy: AccessoryError {
    let peer = peer.map { " to \($0)" } ?? ""
    return AccessoryError(.busy, "\(label) is connected\(peer): it takes no commands until the connection ends")
  }

  /// Cancels a request. The module completes the command that it is carrying out, and the next command waits for that.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>) {
    if case .detecting(id, _, _) = phase {
      phase = .closed
    } else if work?.id == id {
      work?.id = nil
    } else if !queue.remove(id), !unsent.remove(id) {
      return
    }
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a command to \(label) was cancelled"))))
  }

  /// Fails all waiting requests, and every later one, with `error`.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<HM10Answer, HM10Event>) {
    if case .ended = phase { return }
    var ids = queue.removeAll() + unsent.removeAll() + [work?.id].compactMap { $0 }
    if case .detecting(let id, _, _) = phase { ids.append(id) }
    phase = .ended(error)
    for id in ids { effects.completions.append((id, .failure(error))) }
    work = nil
    (effects.output, effects.messages) = ([], [])
  }
}
