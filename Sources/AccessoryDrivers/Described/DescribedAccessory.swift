// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// An accessory whose protocol a description file defines.
///
/// `battery`, `status`, `identify` and `values` make the requests of the description's plan, but only those whose replies have fields
/// that are needed. Values that the accessory sends by itself are stored; they become unknown when it stops sending them.
public final class DescribedAccessory: LinkedAccessory {
  /// The link, for requests and events that this driver has no function for.
  public let link: Link<DescribedExchange>
  /// The description of its protocol.
  public let description: ProtocolDescription

  /// The accessory's unit number on the line; nil when it is alone there, and the description's default unit is used.
  public let unit: Int?
  /// The accessory's name in messages to the user.
  public let label: String

  let latestValues: SharedLatestValues
  /// Which requests the accessory answers.
  let memory = Locked(RequestMemory())
  /// For Modbus requests that were refused as a whole: the parts that this accessory has.
  let parts = Locked<[Int: [ProtocolDescription.RegisterBlock]]>([:])
  let clock: any TimerClock
  let writer: RequestEncoder
  /// The requests without arguments that have been made, by their index: they have the same bytes each time.
  private let made = Locked<[Int: DescribedRequest]>([:])
  /// Its share of a line with several units; nil when the line is its own.
  let share: LineShare?
  /// What the accessory sends by itself, after it was stored.
  let told = EventHub<ToldMessage>(limit: 256)
  /// Stores what the accessory sends by itself; nil when it sends nothing.
  let follower: Task<Void, Never>?

  private init(
    _ link: Link<DescribedExchange>, _ description: ProtocolDescription, unit: Int?, label: String,
    clock: any TimerClock,
    share: LineShare?
  ) {
    self.link = link
    (self.unit, self.label, self.share) = (unit, label, share)
    self.description = description
    self.clock = clock
    writer = RequestEncoder(link.exchange.codec)
    let latestValues = SharedLatestValues(description, label: label)
    self.latestValues = latestValues
    guard description.messages.contains(where: \.isPushed) else {
      follower = nil
      return
    }
    let (events, told) = (link.events(), told)
    // What came before that. On a shared line it may be old.
    for message in share == nil ? link.exchange.firstEvents : [] where message.isFrom(unit) {
      latestValues.take(message, at: clock.bootTime)
    }
    follower = Task {
      var failure: AccessoryError?
      do throws(AccessoryError) {
        for try await message in events where message.isFrom(unit) {
          let time = clock.bootTime
          guard case .success(let values) = latestValues.take(message, at: time) else { continue }
          told.send(ToldMessage(message: message, values: values, time: time))
        }
      } catch {
        // The link is down. Requests throw its error, too.
        failure = error
      }
      latestValues.end(failure)
      told.finish(failure)
    }
  }

  deinit { follower?.cancel() }

  /// Makes contact with the accessory at the other end of `session`. The accessory owns the session from now on, and
  /// closes it if this fails. If the description says so, this wakes the accessory, makes the requests of the plan's
  /// start, and checks that the accessory uses this protocol. `unit` is its unit number on the line; nil means the
  /// description's default.
  ///
  /// Throws `timedOut` when there is no answer, `unsupported` when an answer isn't that of an accessory with this protocol,
  /// `disconnected`, `refused`, and `misconfigured` when the description's frames or the unit aren't possible.
  public static func open(
    _ session: AccessorySession, _ description: ProtocolDescription, unit: Int? = nil,
    clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> DescribedAccessory {
    let rules = try DescribedExchange(description, label: session.label, wire: description.wire(of: session))
    let link = try await Link.open(session, rules: rules, clock: clock)
    return try await contact(
      DescribedAccessory(link, description, unit: unit, label: session.label, clock: clock, share: nil), session.line)
  }

  /// Opens a unit of a line that is open already. If this fails, the share of the line is given back.
  static func open(_ line: DescribedLine, unit: Int, share: LineShare) async throws(AccessoryError)
    -> DescribedAccessory
  {
    try await contact(
      DescribedAccessory(
        line.link, line.description, unit: unit, label: line.label(of: unit), clock: line.clock, share: share), nil)
  }

  /// Makes contact, and closes the accessory if that fails. `line` is the serial line, or nil when other units use it,
  /// too: then its baud rate can't be changed.
  private static func contact(
    _ accessory: DescribedAccessory, _ line: (any LineControl)?
  ) async throws(AccessoryError) -> DescribedAccessory {
    try await attempt { () throws(AccessoryError) in
      try await accessory.begin(line)
      return accessory
    } onFailure: { _ in
      await accessory.close()
    }
  }

  /// Makes a request, with raw numbers as its arguments, and stores the values of its reply. A Modbus request with a
  /// register that this accessory doesn't have is made in parts. `tries` is how often it is sent at most; nil for the
  /// protocol's number. Throws `badData` when the reply makes no sense.
  @discardableResult
  func ask(
    _ index: Int, _ arguments: [String: Int] = [:], tries: Int? = nil
  ) async throws(AccessoryError) -> DecodedMessage? {
    guard let reply = try await reply(to: index, arguments, tries: tries) else { return nil }
    _ = try latestValues.take(reply, at: clock.bootTime, request: index).get()
    memory.withLock { $0.answered(index) }
    return reply
  }

  /// Sends a request, or a part of it, once, and returns the reply.
  func send(
    _ index: Int, _ arguments: [String: Int], part: ProtocolDescription.RegisterBlock? = nil, tries: Int? = nil
  ) async throws(AccessoryError) -> DecodedMessage? {
    if share?.isEnded == true { throw .closed(label) }
    var request = try request(index, arguments, part)
    request.tries = tries
    return try await link.request(request)
  }

  private func request(
    _ index: Int, _ arguments: [String: Int], _ part: ProtocolDescription.RegisterBlock?
  ) throws(AccessoryError) -> DescribedRequest {
    let isPlain = arguments.isEmpty && part == nil
    if isPlain, let request = made.withLock({ $0[index] }) { return request }
    let request = try DescribedRequest(index, arguments, unit: unit, part: part, of: description, by: writer)
    if isPlain { made.withLock { $0[index] = request } }
    return request
  }

  /// Closes the link. Returns when the device is free for others. On a line with several units this only gives back its
  /// share; the last share closes the link.
  public func close() async {
    follower?.cancel()
    if let share { await share.end() } else { await link.close() }
  }
}

extension ProtocolDescription {
  /// How Modbus frames are encoded in a session: as Modbus TCP when the session is a network connection without a
  /// serial line, unless the description says that it carries serial frames.
  func wire(of session: AccessorySession) -> ModbusWire { wire(of: session.transport) }

  /// How Modbus frames are encoded on a transport, by the same rules.
  func wire(of transport: any Transport) -> ModbusWire {
    let isNetwork = transport.peer != nil && transport.line == nil
    return isNetwork && modbus?.isSerialOverNetwork == false ? .network : .serial
  }
}

extension DecodedMessage {
  /// Whether the message is from this unit, or from an unknown one. Always true when `unit` is nil.
  func isFrom(_ unit: Int?) -> Bool { unit == nil || self.unit == nil || self.unit == unit }
}
