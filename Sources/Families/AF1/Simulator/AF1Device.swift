// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1

/// The state of a simulated AF1 accessory, and its replies to requests. Has no I/O and no clock.
public struct AF1Device: Sendable {
  /// The accessory's state when it is switched on.
  public struct Configuration: Sendable, Hashable {
    /// The reply to IDENTIFY.
    public var identity = AF1Identity(
      manufacturer: "Accessory Bridge", name: "Simulated accessory", model: "AF1-SIM", serialNumber: "SIM0001",
      firmwareVersion: "1.0.0", hardwareVersion: "A")
    /// The reply to STATUS.
    public var status = AF1StatusReply(state: .idle)
    /// The reply to BATTERY.
    public var battery = AF1BatteryReply(level: .high, percent: 100, millivolts: 4_200, charge: .discharging)
    /// A payload that replaces `battery` in replies, for invalid ones (a single byte, a level of 7).
    public var batteryPayload: [UInt8]?
    /// The size of the largest payload that it accepts, in bytes. The default is 4,096.
    public var largestPayload: UInt16 = 4_096
    /// How many requests may be unanswered at a time, at least 1. It stores as many replies.
    public var window: UInt8 = 1
    /// Whether an incomplete file survives a restart, so that the host can resume its transfer. The default is `true`.
    public var keepsParts = true

    /// An accessory with a full battery.
    public init() {}
  }

  /// A command that only the simulator has: it counts how often it was run, and returns the count as a little-endian
  /// u32. It isn't idempotent, so that tests can check that no request runs twice. The count survives restarts.
  public static let count = AF1Command(rawValue: 0x40)

  /// The accessory's current state.
  public var configuration: Configuration
  /// A random number that changes with each restart.
  public private(set) var bootID: UInt32
  /// How often the command `count` was run.
  public private(set) var runs: UInt32 = 0
  private var nonce: UInt32?
  private var kept: KeptReplies
  private var nextEvent: UInt16 = 0
  var transfers: SimulatedTransfers

  /// An accessory that was just switched on.
  public init(_ configuration: Configuration, bootID: UInt32) {
    self.configuration = configuration
    self.bootID = bootID
    kept = KeptReplies(capacity: Int(max(1, configuration.window)))
    transfers = SimulatedTransfers(
      largestPayload: Int(configuration.largestPayload), keepsParts: configuration.keepsParts)
  }

  /// Switches the accessory off and on. It forgets its stored replies.
  public mutating func restart(bootID: UInt32) {
    self.bootID = bootID
    nonce = nil
    kept.forget()
    transfers.restart()
    nextEvent = 0
  }

  // MARK: - Requests

  /// Carries out a request and returns the reply; nil when the host wants none.
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
      // The same nonce means that the same host repeats HELLO, so its stored replies are kept.
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
    // Fails only for an identity in the configuration that can't be encoded.
    (try? message.encoded()).map { .reply($0) } ?? .refusal(.badArgument)
  }

  private var batteryPayload: [UInt8] {
    if let payload = configuration.batteryPayload { return payload }
    var payload: [UInt8] = []
    configuration.battery.encode(into: &payload)
    return payload
  }

  // MARK: - Events

  /// An event with the battery's current state.
  public mutating func batteryEvent() -> (header: AF1Header, payload: [UInt8]) { event(.battery, batteryPayload) }

  /// An event with the current status.
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
