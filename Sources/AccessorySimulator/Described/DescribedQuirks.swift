// SPDX-License-Identifier: Apache-2.0

/// What real accessories do that makes it harder to speak with them, and their lines. `Faults` has what a bad line does to
/// any of them.
public struct DescribedQuirks: Sendable, Hashable {
  /// What it sends unasked.
  public enum Push: Sendable, Hashable {
    /// These bytes, whatever they mean.
    case bytes([UInt8])
    /// A message of the description, by its place, with the values that it has.
    case message(Int)
  }

  /// So many requests are lost before it is awake. The default is 0.
  public var lostAsleep = 0
  /// Whether those requests come back as they were. The default is `false`.
  public var isEchoingAsleep = false
  /// The time without a request after which it sleeps again; nil: it sleeps only when it is plugged in.
  public var sleepsAfter: Duration?
  /// Whether all that is sent comes back in front of its answer, as from adapters for RS-485. The default is `false`.
  public var isEchoing = false
  /// In how many pieces each message comes. The default is 1.
  public var pieces = 1
  /// The pause between two pieces. The default is 30 ms.
  public var pieceGap = Duration.milliseconds(30)
  /// What it sends in front of each message.
  public var pushes: [Push] = []
  /// Whether that comes in the middle of the message. The default is `false`.
  public var pushesAmid = false
  /// Whether the first message lacks its first half. The default is `false`.
  public var cutsFirst = false
  /// So many requests are refused at first: half a command was in its buffer. The default is 0.
  public var refusedAtFirst = 0
  /// Requests that it always refuses, by their places, and the message by which it does; nil: the likeliest.
  public var refused: [Int: Int?] = [:]
  /// Requests to which it says nothing, by their places.
  public var unanswered: Set<Int> = []
  /// Whether it leaves away what only newer ones send: optional columns, and what may stand behind the other fields.
  /// The default is `false`.
  public var isOld = false
  /// What newer ones send behind what is described of a message, by its place.
  public var surplus: [Int: [UInt8]] = [:]
  /// Time after each message in which a request is lost. The default is zero.
  public var deafTime = Duration.zero
  /// Time after a request in which it sends nothing by itself. The default is zero.
  public var quietTime = Duration.zero

  /// An accessory as it should be.
  public init() {}
}

/// Where a pretended accessory is with its quirks.
struct QuirkState: Sendable {
  /// Requests that are lost before it is awake.
  var lost = 0
  /// Requests that are still refused.
  var refused = 0
  /// Whether nothing was sent yet.
  var isFirst = true
  /// Counts what happened last, so that timers know whether they are meant.
  var requests = 0
  var messages = 0
  var isDeaf = false
  var isQuiet = false
  /// Pieces that are still to be sent, while one waits for its time.
  var pieces: [[UInt8]] = []
  var isHolding = false

  init(_ quirks: DescribedQuirks) {
    (lost, refused) = (quirks.lostAsleep, quirks.refusedAtFirst)
  }
}
