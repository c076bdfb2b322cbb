// SPDX-License-Identifier: Apache-2.0

/// Deviations of real accessories and their lines that make communication harder. `Faults` has those of a bad line, for
/// any simulator.
public struct DescribedQuirks: Sendable, Hashable {
  /// Bytes that the device sends without a request.
  public enum Push: Sendable, Hashable {
    /// These bytes, whether they are valid or not.
    case bytes([UInt8])
    /// The description's message with this index, with the current values.
    case message(Int)
  }

  /// How many requests are lost before the device is awake. The default is 0.
  public var lostAsleep = 0
  /// Whether requests that are lost in sleep are echoed. The default is `false`.
  public var isEchoingAsleep = false
  /// The time without requests after which the device falls asleep again; nil means that it sleeps only after it was plugged in.
  public var sleepsAfter: Duration?
  /// Whether received bytes are echoed before the answer, as by some RS-485 adapters. The default is `false`.
  public var isEchoing = false
  /// The number of pieces that each message is sent in. The default is 1.
  public var pieces = 1
  /// The pause between two pieces. The default is 30 ms.
  public var pieceGap = Duration.milliseconds(30)
  /// Bytes that are sent before each message.
  public var pushes: [Push] = []
  /// Whether `pushes` are sent in the middle of the message instead. The default is `false`.
  public var pushesAmid = false
  /// Whether the first message is sent without its first half. The default is `false`.
  public var cutsFirst = false
  /// How many requests are refused at first, as if half a command was left in the buffer. The default is 0.
  public var refusedAtFirst = 0
  /// Requests that are always refused, by index, with the index of the refusal; nil means the one that suits the reply.
  public var refused: [Int: Int?] = [:]
  /// Requests that are never answered, by index.
  public var unanswered: Set<Int> = []
  /// Whether the device leaves out what only newer firmware sends: optional columns, and fields in a `tail`. The default is `false`.
  public var isOld = false
  /// Bytes that newer firmware appends to the described ones, by the index of the message.
  public var surplus: [Int: [UInt8]] = [:]
  /// The time after each message in which requests are lost. The default is zero.
  public var deafTime = Duration.zero
  /// The time after a request in which no pushed messages are sent. The default is zero.
  public var quietTime = Duration.zero

  /// No quirks.
  public init() {}
}

/// The state of a device's quirks.
struct QuirkState: Sendable {
  /// How many more requests will be lost.
  var lost = 0
  /// How many more requests will be refused.
  var refused = 0
  /// Whether no message was sent yet.
  var isFirst = true
  /// Numbers of the last request and the last message, so that an outdated timer has no effect.
  var requests = 0
  var messages = 0
  var isDeaf = false
  var isQuiet = false
  /// Pieces that wait to be sent. `isHolding` says that a timer for the next one is running.
  var pieces: [[UInt8]] = []
  var isHolding = false

  init(_ quirks: DescribedQuirks) {
    (lost, refused) = (quirks.lostAsleep, quirks.refusedAtFirst)
  }
}
