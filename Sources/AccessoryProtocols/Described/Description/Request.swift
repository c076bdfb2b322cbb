// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// What can be asked of an accessory.
  public struct Request: Sendable, Hashable {
    /// What it is called: small letters, digits, `-`, `_`.
    public var name: String
    /// What it does, in a sentence without its period.
    public var summary = ""
    /// What is sent.
    public var sends: Sends
    /// Its arguments, for people; at most 16.
    public var arguments: [Argument] = []
    /// The message that answers it, by its place; nil: nothing does.
    public var reply: Int?
    /// Whether a reply's elements must be those of the request, by their places in either layout: an address, a register.
    public var echoes: [Echo] = []
    /// Messages that refuse it, by their places.
    public var refusals: [Int] = []
    /// Whether it changes something in the accessory.
    public var isWrite = false
    /// Whether the accessory sends the request's bytes back in front of the reply, which are dropped.
    public var isEchoed = false
    /// Whether not every accessory knows it: one that has never answered it and keeps silent refuses it.
    public var isOptional = false
    /// How long an answer may take, in nanoseconds; nil: as the plan says.
    public var timeout: Int64?

    /// A request of these parts.
    public init(name: String, sends: Sends) { (self.name, self.sends) = (name, sends) }
  }

  /// What a request sends.
  public enum Sends: Sendable, Hashable {
    /// A frame: the framing's place, the numbers of its elements by their places, and its body.
    case frame(framing: Int, elements: [Int: Int], body: [BodyPart])
    /// Bytes without a framing.
    case bytes([BodyPart])
  }

  /// A part of what a request carries.
  public enum BodyPart: Sendable, Hashable {
    /// These bytes.
    case bytes([UInt8])
    /// The argument of this name.
    case argument(String)
    /// The argument that is an element's number: that element's place in the framing's layout.
    case element(Int, argument: String)
    /// The number of the unit that is asked, as it is sent.
    case unit(NumberFormat)
  }

  /// An argument of a request.
  public struct Argument: Sendable, Hashable {
    /// What stands in front of the equals sign.
    public var name: String
    /// What may stand behind it, in steps of the raw number.
    public var range: ClosedRange<Int>
    /// How it is written into the request: as a number, or (nil) as decimal text.
    public var format: NumberFormat?
    /// Text before the number is written: added, then multiplied. A person types (raw + offset) · scale.
    public var offset = 0
    /// See `offset`.
    public var scale = Scale.one
    /// In what it is counted.
    public var unit: String?
    /// Its value when it is left out, as a raw number; nil when it must not be.
    public var standard: Int?
    /// Words for raw numbers, of which one is typed; empty: a number is typed.
    public var words: [String: Int] = [:]

    /// An argument of these parts.
    public init(_ name: String, _ range: ClosedRange<Int>, _ format: NumberFormat?) {
      (self.name, self.range, self.format) = (name, range, format)
    }
  }

  /// An element of the reply that must be as in the request.
  public struct Echo: Sendable, Hashable {
    /// The element's place in the request's framing.
    public var request: Int
    /// The element's place in the reply's framing.
    public var reply: Int
    /// These two.
    public init(request: Int, reply: Int) { (self.request, self.reply) = (request, reply) }
  }

  /// What is asked when.
  public struct Plan: Sendable, Hashable {
    /// What tells whether the accessory speaks this protocol, by its place among the requests.
    public var identify: Int?
    /// Requests that tell it, too: the next one is made where nobody answers the one before it, or it is refused.
    public var identifyOtherwise: [Int] = []
    /// What the answer must say: a field's name and its value as text; empty: any answer will do.
    public var expected: [String: String] = [:]
    /// What is asked for a reading, in this order, and how often while the accessory is held.
    public var polls: [Poll] = []
    /// Nanoseconds without a byte between a reply and the next request.
    public var gap: Int64 = 0
    /// Nanoseconds that an answer may take, without the time on the wire.
    public var timeout: Int64 = 500_000_000
    /// How often a request is sent before it has failed; at least 1.
    public var tries = 3
    /// Nanoseconds between two tries.
    public var retryGap: Int64 = 0
    /// Whether the first request after opening is made again when it is refused, as half a command may have been in the
    /// accessory's buffer.
    public var retriesRefused = false
    /// Bytes to send before the first request, and nanoseconds to wait behind them; nil: none.
    public var wake: Wake?
    /// What is done once after opening, before all else.
    public var start: [StartStep] = []
    /// Nanoseconds after which what the accessory sends by itself is no longer true; nil: three times its usual period,
    /// and at least 10 s.
    public var expiry: Int64?
    /// A plan that asks nothing.
    public init() {}
  }

  /// A step of what is done once after opening.
  public enum StartStep: Sendable, Hashable {
    /// A request, by its place, and what its answer must say: a field's name and its value as text; empty: any answer.
    case request(Int, expected: [String: String])
    /// From now on the line has so many bits a second, when what was sent has left it.
    case baud(UInt32)
    /// Nothing for so many nanoseconds.
    case wait(Int64)
  }

  /// Requests that are made together.
  public struct Poll: Sendable, Hashable {
    /// By their places.
    public var requests: [Int]
    /// Nanoseconds from one time to the next; nil: only when somebody asks.
    public var interval: Int64?
    /// These requests so often.
    public init(_ requests: [Int], every interval: Int64?) { (self.requests, self.interval) = (requests, interval) }
  }

  /// What wakes an accessory that sleeps.
  public struct Wake: Sendable, Hashable {
    /// Sent as they are.
    public var bytes: [UInt8]
    /// Nanoseconds to wait then.
    public var pause: Int64
    /// These bytes and this pause.
    public init(_ bytes: [UInt8], pause: Int64) { (self.bytes, self.pause) = (bytes, pause) }
  }

  /// A frame or an exchange with what it means.
  public struct Example: Sendable, Hashable {
    /// The request, by its place, with its arguments as raw numbers; nil: what is received is pushed.
    public var request: Int?
    /// See `request`.
    public var arguments: [String: Int] = [:]
    /// The unit that is asked; nil: the standard one. Where there are no units it is nil.
    public var unit: Int?
    /// The request's bytes, which it must send; nil: not looked at.
    public var sent: [UInt8]?
    /// What the accessory sends; empty: not looked at.
    public var received: [UInt8]
    /// Numbers that were read before, from other messages: counts of pieces.
    public var given: [String: Int] = [:]
    /// What must be read from it, by field: values as texts, lists with a comma and a blank between their values, a truth
    /// as "true" or "false", "unknown" where nothing must be known of it.
    public var expected: [String: String] = [:]
    /// What the user says of the parameters; of others nothing is known but their standards.
    public var parameters: [String: Double] = [:]
    /// Whether nothing must be read from it, as it is damaged or refuses.
    public var isRefused = false
    /// Whether what is sent changes something, so that nobody may send it without permission.
    public var isWrite = false
    /// The line of the file, from 1, for what is said about it.
    public var line = 0
    /// What is received means what is expected.
    public init(received: [UInt8]) { self.received = received }
  }
}
