// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// A pretended accessory's inside: what it is and how it answers. No I/O and no clock.
public struct AF1Device: Sendable {
  /// What the accessory is like when it is switched on.
  public struct Configuration: Sendable, Hashable {
    /// Who it says it is.
    public var identity = AF1Identity(
      manufacturer: "Accessory Bridge", name: "Simulated accessory", model: "AF1-SIM", serialNumber: "SIM0001",
      firmwareVersion: "1.0.0", hardwareVersion: "A")
    /// What it says of itself.
    public var status = AF1StatusReply(state: .idle)
    /// What it says of its battery.
    public var battery = AF1BatteryReply(level: .high, percent: 100, millivolts: 4_200, charge: .discharging)
    /// What BATTERY is answered with instead, for replies that no `battery` can give (a single byte, a level of 7).
    public var batteryPayload: [UInt8]?
    /// Bytes of the largest payload it takes. The default is 4,096.
    public var largestPayload: UInt16 = 4_096
    /// Requests that may be outstanding at a time, at least 1: as many replies are kept.
    public var window: UInt8 = 1
    /// Whether what has come of a file survives a restart, so that the host may go on there. The default is `true`.
    public var keepsParts = true

    /// An accessory with a full battery.
    public init() {}
  }

  /// The accessory's own command that counts how often it was run, and answers the count as u32, little-endian. Not
  /// idempotent: made to show that nothing is run twice. The count survives restarts.
  public static let count = AF1Command(rawValue: 0x40)

  /// What it is like.
  public var configuration: Configuration
  /// Changes when it restarts.
  public private(set) var bootID: UInt32
  /// How often the counting command was run.
  public private(set) var runs: UInt32 = 0
  private var nonce: UInt32?
  private var kept: KeptReplies
  private var nextEvent: UInt16 = 0
  var transfers: SimulatedTransfers

  /// An accessory that has just been switched on.
  public init(_ configuration: Configuration, bootID: UInt32) {
    self.configuration = configuration
    self.bootID = bootID
    kept = KeptReplies(capacity: Int(max(1, configuration.window)))
    transfers = SimulatedTransfers(
      largestPayload: Int(configuration.largestPayload), keepsParts: configuration.keepsParts)
  }

  /// Switches it off and on: it forgets what it was asked.
  public mutating func restart(bootID: UInt32) {
    self.bootID = bootID
    nonce = nil
    kept.forget()
    transfers.restart()
    nextEvent = 0
  }

  // MARK: - Requests

  /// Takes a frame, does what it asks, and returns the answer; nil when none is due.
  public mutating func answer(
    _ header: AF1Header, _ outcome: FrameOutcome, payload: [UInt8], now: MonotonicTime
  ) -> (header: AF1Header, payload: [UInt8])? {
    guard header.flags.isDisjoint(with: [.reply, .event]) else { return nil }
    let answer: (AF1Header, [UInt8])
    if let reason = AF1RefusalReason(outcome) {
      answer = (.refusal(of: header), [reason.rawValue])
    } else if let known = kept.reply(to: header, payload, now: now) {
      answer = known
    } else {
      switch run(header.command, payload) {
      case .reply(let reply): answer = (.reply(to: header), reply)
      case .refusal(let reason): answer = (.refusal(of: header), [reason.rawValue])
      }
      if header.command != .hello { kept.keep(answer, to: header, payload, now: now) }
    }
    return header.flags.contains(.replyWanted) ? answer : nil
  }

  private enum Outcome {
    case reply([UInt8])
    case refusal(AF1RefusalReason)
  }

  private mutating func run(_ command: AF1Command, _ payload: [UInt8]) -> Outcome {
    switch command {
    case .hello:
      guard let hello = try? AF1HelloRequest(decoding: payload) else { return .refusal(.badArgument) }
      // The same nonce again is the same host, making sure of us: what we remember is still for it.
      if hello.nonce != nonce { kept.forget() }
      nonce = hello.nonce
      return encoded(
        AF1HelloReply(
          bootID: bootID, largestPayload: configuration.largestPayload, window: max(1, configuration.window)))
    case .identify: return payload.isEmpty ? encoded(configuration.identity) : .refusal(.badArgument)
    case .status: return payload.isEmpty ? encoded(configuration.status) : .refusal(.badArgument)
    case .battery: return payload.isEmpty ? .reply(batteryPayload) : .refusal(.badArgument)
    case .transferBegin, .transferData, .transferEnd, .transferAbort: return transfer(command, payload)
    case .echo: return .reply(payload)
    case Self.count:
      runs &+= 1
      return .reply(withUnsafeBytes(of: runs.littleEndian) { Array($0) })
    default: return .refusal(.unknownCommand)
    }
  }

  private mutating func transfer(_ command: AF1Command, _ payload: [UInt8]) -> Outcome {
    do {
      switch command {
      case .transferBegin: return encoded(try transfers.begin(AF1TransferBeginRequest(decoding: payload)))
      case .transferData: return encoded(try transfers.take(AF1TransferDataRequest(decoding: payload)))
      case .transferEnd:
        _ = try AF1Empty(decoding: payload)
        return encoded(try transfers.end())
      default:
        _ = try AF1Empty(decoding: payload)
        transfers.abort()
        return .reply([])
      }
    } catch {
      return .refusal((error as? SimulatedTransfers.Refusal)?.reason ?? .badArgument)
    }
  }

  private func encoded(_ message: some AF1Payload) -> Outcome {
    // Can only fail for an identity that has no form on the wire, which the simulator's owner chose.
    (try? message.encoded()).map { .reply($0) } ?? .refusal(.badArgument)
  }

  private var batteryPayload: [UInt8] {
    if let payload = configuration.batteryPayload { return payload }
    var payload: [UInt8] = []
    configuration.battery.encode(into: &payload)
    return payload
  }

  // MARK: - Events

  /// The event that tells the battery's present state.
  public mutating func batteryEvent() -> (header: AF1Header, payload: [UInt8]) { event(.battery, batteryPayload) }

  /// The event that tells the present status.
  public mutating func statusEvent() -> (header: AF1Header, payload: [UInt8]) {
    var payload: [UInt8] = []
    configuration.status.encode(into: &payload)
    return event(.status, payload)
  }

  private mutating func event(_ command: AF1Command, _ payload: [UInt8]) -> (header: AF1Header, payload: [UInt8]) {
    defer { nextEvent &+= 1 }
    return (.event(command, number: nextEvent), payload)
  }
}
