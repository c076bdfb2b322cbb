// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The rules for commands and replies of an HM-10 or HM-11: one command at a time, in one piece. The next is sent when
/// the reply to the last has ended, which its pattern or silence tells.
///
/// Contact begins with AT, which ends a connection that there may be. It is sent without a line end first, and then
/// with one: a module that answers only the second is a clone. While the module is connected, the line carries the
/// connection's data: commands fail with `busy`, except AT, which ends the connection.
public struct HM10Exchange: Exchange {
  /// What can be set.
  public struct Options: Sendable, Hashable {
    /// Time for a reply, besides that of its bytes. The default is 1 s.
    public var timeout = HM10Limits.timeout
    /// Time for a connection, from when the module says that it tries. The module gives up after 10 s by itself.
    public var connectTimeout = HM10Limits.connectTimeout + .seconds(2)
    /// Time from one finding of a scan to the next, or to its end. The default is 12 s.
    public var scanPause = Duration.seconds(12)
    /// Time for a whole scan. The default is 60 s.
    public var scanTimeout = Duration.seconds(60)
    /// Devices that a scan keeps. The default is 256.
    public var scanLimit = 256
    /// Time from a reply to the next command. The default is 20 ms.
    public var gap = Duration.milliseconds(20)
    /// Time from data to the AT that ends the connection: without a pause it would be data, too. The default is 100 ms.
    public var pauseBehindData = Duration.milliseconds(100)
    /// Time that the module is left alone when it was reset or renewed, or its speed set. The default is 1 s.
    public var restart = HM10Limits.restart
    /// Commands that may wait for their turn, and pieces of data that may wait for room on the line. The default is 64.
    public var queueLimit = 64
    /// Which command fails with `busy` when too many wait; the new one by default. Of data it is always the new piece.
    public var overflow = Overflow.refuse

    /// The defaults.
    public init() {}
  }

  enum Phase: Sendable {
    case closed
    /// AT was sent; `next` is the greeting that is sent at the deadline, by its place among `greetings`.
    case detecting(RequestID, next: Int, deadline: MonotonicTime)
    case ready
    case ended(AccessoryError)
  }

  /// What the module is doing.
  struct Work: Sendable {
    enum Stage: Sendable {
      case asked
      /// A scan: until when in all.
      case scanning(limit: MonotonicTime)
      case connecting
    }

    /// Nil when nobody waits for it any more.
    var id: RequestID?
    let command: HM10Command
    var stage = Stage.asked
    var deadline: MonotonicTime
    var scan: HM10Scan
    /// Whether there was a connection, which this command ends.
    var endsConnection = false
  }

  /// The framing.
  public var codec = HM10LineCodec()
  /// The counters so far.
  public internal(set) var counters = LinkCounters()
  /// Whether a connection was there when contact was made, and was ended by that.
  public internal(set) var endedConnection = false
  /// To whom it is connected, if the module says so.
  public internal(set) var peer: BluetoothAddress?
  /// Whether the line carries data.
  public var isConnected: Bool { codec.isConnected }

  let options: Options
  let label: String
  var timing = LineTiming.instant
  var phase = Phase.closed
  /// Until when contact is to be made, however long an earlier program's scan lasts.
  var contactLimit = MonotonicTime(nanoseconds: .max)
  /// An earlier program's scan is over: the module didn't hear the last greeting, and is sent it again.
  var repeatsGreeting = false
  var queue: RequestQueue<HM10Command>
  /// Data that the transport has no room for yet.
  var unsent: RequestQueue<[UInt8]>
  var work: Work?
  /// When all data that was sent has gone over the line.
  var dataEnd = MonotonicTime(nanoseconds: .min)
  /// When the next command may be sent.
  var nextSending = MonotonicTime(nanoseconds: .min)

  /// The forms in which AT is sent to find out whom it reaches: a clone that got one without a line end takes the first
  /// one with it for the rest of that.
  static let greetings: [HM10Dialect] = [.genuine, .clone, .clone, .genuine]
  /// Time from one finding of an earlier program's scan to the next, after which that is taken to be over.
  static let scanPatience = Duration.seconds(2)

  /// Rules for a new opening.
  public init(label: String, options: Options = Options()) {
    self.label = label
    self.options = options
    queue = RequestQueue(limit: options.queueLimit, overflow: options.overflow)
    unsent = RequestQueue(limit: options.queueLimit)
  }

  /// Learns how long bytes take.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When a command must be given up, or the next command may be sent.
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
    case .closed, .detecting: return refuse(AccessoryError(.ioFailure, "\(label) has not been asked for contact"))
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
        return refuse(AccessoryError(.misconfigured, "that can't be sent to \(label): \(error)"))
      }
      if isConnected, command != .attention { return refuse(isBusy) }
      queue.admit(id, command, for: label, counters: &counters, effects: &effects)
      sendNext(now: now, effects: &effects)
    }
  }

  /// Why there can be no command now.
  var isBusy: AccessoryError {
    let peer = peer.map { " to \($0)" } ?? ""
    return AccessoryError(.busy, "\(label) is connected\(peer): it takes no commands meanwhile")
  }

  /// Gives up a request. What the module is doing it goes on with; the next command waits for that.
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

  /// Fails everything that waits, and all that comes.
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
