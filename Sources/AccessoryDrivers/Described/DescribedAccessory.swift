// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// An accessory whose protocol a file describes.
///
/// `battery`, `status`, `identify` and `values` ask what the description's plan says, and only those of its requests whose
/// replies have something of it. What the accessory sends by itself is remembered, and is unknown again when it stops.
public final class DescribedAccessory: LinkedAccessory {
  /// The link, for what goes beyond this driver.
  public let link: Link<DescribedExchange>
  /// What is known of its protocol.
  public let description: ProtocolDescription

  /// Which unit of its line it is; nil where it is alone there, and is meant by whatever the description has for that.
  public let unit: Int?
  /// The accessory's name for people.
  public let label: String

  let picture: SharedPicture
  /// Of optional requests whether they were answered, or else refused: then only who asks for them makes them again.
  private let answers = Locked<[Int: Bool]>([:])
  let clock: any TimerClock
  let writer: RequestWriter
  /// Its part of a line that it shares; nil where the line is its own.
  let share: LineShare?
  /// Remembers what the accessory sends by itself.
  private let follower: Task<Void, Never>?

  private init(
    _ link: Link<DescribedExchange>, _ description: ProtocolDescription, unit: Int?, label: String,
    clock: any TimerClock,
    share: LineShare?
  ) {
    self.link = link
    (self.unit, self.label, self.share) = (unit, label, share)
    self.description = description
    self.clock = clock
    writer = RequestWriter(link.exchange.codec)
    let picture = SharedPicture(description)
    self.picture = picture
    guard description.messages.contains(where: \.isPushed) else {
      follower = nil
      return
    }
    let events = link.events()
    follower = Task {
      do throws(AccessoryError) {
        var iterator = events.makeAsyncIterator()
        while let message = try await iterator.next() {
          if message.isFrom(unit) { picture.take(message, at: clock.bootTime, isFirst: true) }
        }
      } catch {
        // The link is down: whoever asks is told by it.
      }
    }
  }

  deinit { follower?.cancel() }

  /// Makes contact with the accessory at the other end of `session`, which belongs to it from now on and is closed if that
  /// fails: wakes it, makes the requests that the plan begins with, and sees whether it is of this kind, all if the
  /// description says so. `unit` is the one that is meant on the line; nil: the standard one.
  ///
  /// Throws `timedOut` when nobody answers, `unsupported` when the answer isn't that of an accessory of this kind,
  /// `disconnected`, `refused`, `misconfigured` when there can be no such frames, or no such unit.
  public static func open(
    _ session: AccessorySession, _ description: ProtocolDescription, unit: Int? = nil,
    clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> DescribedAccessory {
    let rules = try DescribedExchange(description, label: session.label, wire: description.wire(of: session))
    let link = try await Link.open(session, rules: rules, clock: clock)
    return try await contact(
      DescribedAccessory(link, description, unit: unit, label: session.label, clock: clock, share: nil), session.line)
  }

  /// The same for a unit of a line that was opened before. Where it fails, its share of the line is given back.
  static func open(_ line: DescribedLine, unit: Int, share: LineShare) async throws(AccessoryError)
    -> DescribedAccessory
  {
    try await contact(
      DescribedAccessory(
        line.link, line.description, unit: unit, label: line.label(of: unit), clock: line.clock, share: share), nil)
  }

  /// `line` is the serial line, where it is the accessory's alone: nobody changes the rate of one that others speak on.
  private static func contact(
    _ accessory: DescribedAccessory, _ line: (any LineControl)?
  ) async throws(AccessoryError) -> DescribedAccessory {
    let failure: AccessoryError
    do throws(AccessoryError) {
      try await accessory.begin(line)
      return accessory
    } catch {
      failure = error
    }
    await accessory.close()
    throw failure
  }

  /// What is answered to the first of these requests that is answered. Throws what the first one failed with.
  func firstAnswer(to requests: [Int]) async throws(AccessoryError) -> DecodedMessage? {
    var failure: AccessoryError?
    for request in requests {
      do throws(AccessoryError) {
        let reply = try await ask(request)
        // Others tell the same, and to see that they aren't known may take long.
        answers.withLock { answers in
          for other in requests where other != request && description.requests[other].isOptional {
            answers[other] = false
          }
        }
        return reply
      } catch {
        guard isRefusal(error, of: request) || error.kind == .timedOut else { throw error }
        failure = failure ?? error
      }
    }
    throw failure ?? AccessoryError(.timedOut, "\(label) does not answer")
  }

  /// Makes a request, with raw numbers as its arguments, and remembers what is answered.
  @discardableResult
  func ask(_ index: Int, _ arguments: [String: Int] = [:]) async throws(AccessoryError) -> DecodedMessage? {
    if share?.isEnded == true { throw .closed(label) }
    let request = try DescribedRequest(index, arguments, unit: unit, of: description, by: writer)
    let reply = try await link.request(request)
    if let reply { picture.take(reply, at: clock.bootTime, isFirst: true) }
    if description.requests[index].isOptional { answers.withLock { $0[index] = true } }
    return reply
  }

  /// Whether it was refused, and not every accessory knows it.
  func isNotKnown(_ request: Int) -> Bool { answers.withLock { $0[request] } == false }

  /// Whether an error means that the accessory doesn't know the request: it refuses it, or keeps silent where not every
  /// accessory knows it and this one has never answered it.
  func isRefusal(_ error: AccessoryError, of request: Int) -> Bool {
    guard description.requests[request].isOptional else { return error.kind == .refused }
    guard error.kind == .refused || error.kind == .timedOut else { return false }
    return answers.withLock { answers in
      guard answers[request] != true else { return error.kind == .refused }
      answers[request] = false
      return true
    }
  }

  /// Closes the link; returns when the device is free for others. On a line that it shares with others it only gives back its
  /// part: the last one closes the link.
  public func close() async {
    follower?.cancel()
    if let share { await share.end() } else { await link.close() }
  }
}

extension ProtocolDescription {
  /// How frames travel in a session where they are Modbus: with the header of Modbus TCP where there is a network and no
  /// line behind it.
  func wire(of session: AccessorySession) -> ModbusWire {
    let isNetwork = session.transport.peer != nil && session.transport.line == nil
    return isNetwork && modbus?.isSerialOverNetwork == false ? .network : .serial
  }
}

extension DecodedMessage {
  /// Whether a unit has sent it; with nil, whoever it was.
  func isFrom(_ unit: Int?) -> Bool { unit == nil || self.unit == nil || self.unit == unit }
}
