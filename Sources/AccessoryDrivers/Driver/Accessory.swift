// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An accessory that a driver controls, with the functions that all drivers share. Functions of one kind of accessory
/// are in the driver's own type.
///
/// Every function throws `disconnected` when the accessory goes, `timedOut` when it doesn't answer, `unsupported` when
/// it doesn't have the function, `badData` when an answer can't be decoded, and `refused` when the accessory refuses.
public protocol Accessory: Sendable {
  /// The accessory's name in messages to the user.
  var label: String { get }

  /// Asks for its identity: manufacturer, model, serial number and so on.
  func identify() async throws(AccessoryError) -> AccessoryIdentity
  /// Asks for its status.
  func status() async throws(AccessoryError) -> AccessoryStatus
  /// Asks for its battery.
  func battery() async throws(AccessoryError) -> BatteryReading
  /// Asks for its battery, and says how old the answer is and what it lacks: a service answers from its last reading while another
  /// program uses the accessory.
  func readBattery() async throws(AccessoryError) -> Read<BatteryReading>
  /// Asks for its status, and says how old the answer is and what it lacks.
  func readStatus() async throws(AccessoryError) -> Read<AccessoryStatus>
  /// Asks for its identity, and says what the answer lacks.
  func readIdentity() async throws(AccessoryError) -> Read<AccessoryIdentity>
  /// Requests all its current values, and returns them with the age of the oldest one and with what they lack.
  func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]>
  /// Asks for its battery. Returns the reading and the news from then on, as `news` does. If the protocol allows it, no
  /// news is older than the reading.
  func batteryAndNews() async throws(AccessoryError) -> (
    reading: Read<BatteryReading>, news: EventStream<AccessoryNews>
  )
  /// Asks for all its current values, except those of status and battery. A value that isn't known has no content.
  func values() async throws(AccessoryError) -> [AccessoryValue]

  /// Makes the requests of one of the driver's polls, and returns the answers as news. Throws only when there is no
  /// answer at all: `timedOut` when the accessory is silent, which may mean that it sleeps.
  func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews]

  /// Details of the protocol and the connection since the accessory was opened; nil if the protocol has none.
  var protocolDetails: ProtocolDetails? { get }
  /// What the accessory doesn't answer or refuses at present, whoever asked: a sentence without its period. Nil where it answers
  /// everything.
  var unanswered: String? { get }
  /// When the accessory last reported this part of its state, by itself or on request, even without a change; on the
  /// clock that also runs while the machine sleeps (`TimerClock.bootTime`). Nil if unknown: then answers are as new as
  /// their arrival.
  func toldTime(of part: AccessoryPoll.Part) -> MonotonicTime?
  /// Sends a raw request with the command's number, and returns the payload of the reply. Throws `unsupported` when the
  /// protocol has no such requests.
  func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8]

  /// The commands that `perform` carries out, with their arguments and results; none for accessories without commands. Only a
  /// service is asked for them.
  func commands() async throws(AccessoryError) -> [CommandDescription]
  /// Carries out commands of the driver, one after another, or as one batch when the protocol has batches. With
  /// `isAnswered` false, this doesn't wait for replies if the protocol allows that, and returns no results.
  func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply]

  /// The accessory's files; nil when the protocol has none.
  var files: (any AccessoryFiles)? { get }

  /// The accessory's unsolicited messages from now on. The stream throws the link's error as soon as the accessory
  /// goes, whether or not messages are left, and ends normally when the accessory is closed.
  func news() -> EventStream<AccessoryNews>

  /// Closes the link. Returns when the device is free for others.
  func close() async
}

extension Accessory {
  /// The default: nil, for accessories that report only on request.
  public func toldTime(of part: AccessoryPoll.Part) -> MonotonicTime? { nil }

  /// The default, for protocols without an identity: an empty one.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity { AccessoryIdentity() }

  /// The default, for protocols without a status: an unknown one.
  public func status() async throws(AccessoryError) -> AccessoryStatus { AccessoryStatus() }

  /// The default, for protocols without a battery: throws `unsupported`.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    throw AccessoryError(.unsupported, "\(label) doesn't report its battery")
  }

  /// The default, for protocols without values: throws `unsupported`.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    throw AccessoryError(.unsupported, "\(label) reports no values beside its status and battery")
  }

  /// The default, for accessories that this program has open: they answer now.
  public func readBattery() async throws(AccessoryError) -> Read<BatteryReading> {
    Read(try await battery(), age: .zero)
  }

  /// The default, in the same way.
  public func readStatus() async throws(AccessoryError) -> Read<AccessoryStatus> {
    Read(try await status(), age: .zero)
  }

  /// The default, in the same way.
  public func readIdentity() async throws(AccessoryError) -> Read<AccessoryIdentity> {
    Read(try await identify(), age: .zero)
  }

  /// The default, in the same way.
  public func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> {
    Read(try await values(), age: .zero)
  }

  /// The default: subscribes, then asks. The news may include messages that came before the reading.
  public func batteryAndNews() async throws(AccessoryError) -> (
    reading: Read<BatteryReading>, news: EventStream<AccessoryNews>
  ) {
    let news = news()
    return (try await readBattery(), news)
  }

  /// Its status and its identity; `known` is the identity if it isn't to be asked for. One that isn't answered doesn't hide the
  /// other: it is unknown then. Throws the error of the status when neither is known.
  package func readStatusAndIdentity(
    known: AccessoryIdentity? = nil
  ) async throws(AccessoryError) -> Read<StatusAndIdentity> {
    var status: Read<AccessoryStatus>
    var failure: AccessoryError?
    do throws(AccessoryError) {
      status = try await readStatus()
    } catch {
      guard error.isOfOneRequest else { throw error }
      (status, failure) = (Read(AccessoryStatus(), age: .zero).lacking(error.message), error)
    }
    var identity = known ?? AccessoryIdentity()
    do throws(AccessoryError) {
      if known == nil {
        let read = try await readIdentity()
        (identity, status) = (read.value, status.lacking(read.missing))
      }
    } catch {
      guard error.isOfOneRequest else { throw error }
      status = status.lacking(error.message)
    }
    if let failure, identity == AccessoryIdentity() { throw failure }
    return status.map { StatusAndIdentity(status: $0, identity: identity) }
  }

  /// The default: nil.
  public var unanswered: String? { nil }

  /// The default: nil.
  public var protocolDetails: ProtocolDetails? { nil }

  /// The default, for protocols without requests by number: throws `unsupported`.
  public func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    throw AccessoryError(.unsupported, "\(label) takes no requests by number")
  }

  /// The default: nil.
  public var files: (any AccessoryFiles)? { nil }

  /// The default: none.
  public func commands() async throws(AccessoryError) -> [CommandDescription] { [] }

  /// Carries out one command. The arguments are texts, as they would be typed; those with a default may be left out. Returns the
  /// results by their names.
  ///
  /// Throws `misconfigured` where the accessory has no such command or an argument isn't valid, without sending anything;
  /// `permissionDenied` for a write that isn't permitted; `unsupported` where it has no commands.
  @discardableResult
  public func perform(
    _ name: String, _ arguments: [String: String] = [:]
  ) async throws(AccessoryError) -> [String: CommandValue] {
    let commands = try await commands()
    guard !commands.isEmpty else { throw withoutCommands }
    let call: CommandCall
    do throws(AccessoryError) {
      call = try CommandCall(name, arguments, of: commands)
    } catch {
      throw AccessoryError(error.kind, "\(label): \(error.message)")
    }
    let values = try await perform([call], isAnswered: true).first?.values ?? []
    return Dictionary(zip(call.command.results.map(\.name), values)) { first, _ in first }
  }

  /// The default: throws `unsupported`.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    throw withoutCommands
  }

  private var withoutCommands: AccessoryError { AccessoryError(.unsupported, "\(label) has no named commands") }
}

/// An unsolicited message of an accessory.
public enum AccessoryNews: Sendable, Hashable {
  /// Its battery changed.
  case battery(BatteryReading)
  /// Its status changed.
  case status(AccessoryStatus)
  /// Some of its values changed, or were sent again.
  case values([AccessoryValue])
  /// A message that only the accessory's driver understands.
  case other
}
