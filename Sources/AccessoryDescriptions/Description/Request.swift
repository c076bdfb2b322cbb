// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension ProtocolDescription {
  /// A request to an accessory.
  public struct Request: Sendable, Hashable {
    /// The name: lower-case letters, digits, `-`, `_`.
    public var name: String
    /// A sentence about what it does, without the period.
    public var summary = ""
    /// What it sends.
    public var sends: Contents
    /// Its arguments, which a person gives; at most 16.
    public var arguments: [Argument] = []
    /// The index of the message that answers it; nil if nothing does.
    public var reply: Int?
    /// Elements that must be the same in the reply as in the request: an address, a register.
    public var echoes: [Echo] = []
    /// The indices of the messages that refuse it; if empty, any refusal does.
    public var refusals: [Int] = []
    /// Whether it changes something in the accessory.
    public var isWrite = false
    /// What it sets in the accessory; simulators show it in later messages.
    public var sets: [Setting] = []
    /// Whether the accessory echoes the request's bytes in front of the reply. The echo is dropped.
    public var isEchoed = false
    /// Whether some accessories don't know it. The silence of an accessory that has never answered it counts as a
    /// refusal.
    public var isOptional = false
    /// How long a reply may take, in nanoseconds; nil: as long as the plan says.
    public var timeout: Int64?

    /// A request of these parts.
    public init(name: String, sends: Contents) { (self.name, self.sends) = (name, sends) }
  }

  /// What a request sends.
  public enum Contents: Sendable, Hashable {
    /// A frame: the index of its framing, the numbers of its elements by their indices, and its body.
    case frame(framing: Int, elements: [Int: Int], body: [BodyPart])
    /// Bytes without a framing.
    case bytes([BodyPart])
  }

  /// A part of the body of a request.
  public enum BodyPart: Sendable, Hashable {
    /// These bytes.
    case bytes([UInt8])
    /// The argument with this name.
    case argument(String)
    /// Adds no bytes: the argument is the number of the element with this index in the framing's layout.
    case element(Int, argument: String)
    /// The number of the addressed unit, as it is sent.
    case unit(NumberFormat)
    /// The user's number for the parameter with this name, in this many decimal digits: a PIN.
    case parameter(String, digits: Int)
  }

  /// An argument of a request.
  public struct Argument: Sendable, Hashable {
    /// The name, which is typed in front of the equals sign.
    public var name: String
    /// The allowed raw numbers.
    public var range: ClosedRange<Int>
    /// How the argument is encoded in the request; nil for decimal text.
    public var format: NumberFormat?
    /// The value that the argument sets, of the raw number, which is what a person types. It is linear, and `offset` is a whole number.
    public var formula = Formula.raw
    /// The unit; nil if there is none.
    public var unit: String?
    /// The raw number when the argument is left out; nil if it must not be left out.
    public var defaultValue: Int?
    /// Words that a person may type, with their raw numbers; if empty, a person types a number.
    public var words: [String: Int] = [:]

    /// An argument of these parts.
    public init(_ name: String, _ range: ClosedRange<Int>, _ format: NumberFormat?) {
      (self.name, self.range, self.format) = (name, range, format)
    }
  }

  /// A value that a request sets.
  public struct Setting: Sendable, Hashable {
    /// The name of the field that shows it.
    public var field: String
    /// Its new value.
    public var source: Source

    /// Where the new value comes from.
    public enum Source: Sendable, Hashable {
      /// The argument of the request with this name.
      case argument(String)
      /// It is always this one.
      case value(PlainValue)
    }

    /// A field and its new value.
    public init(_ field: String, _ source: Source) { (self.field, self.source) = (field, source) }
  }

  /// An element of the reply that must be the same as in the request.
  public struct Echo: Sendable, Hashable {
    /// The element's index in the request's framing.
    public var request: Int
    /// The element's index in the reply's framing.
    public var reply: Int
    /// Two elements that must be the same.
    public init(request: Int, reply: Int) { (self.request, self.reply) = (request, reply) }
  }

  /// Which requests are made, and when.
  public struct Plan: Sendable, Hashable {
    /// The index of the request whose reply shows whether the accessory speaks this protocol; nil if there is none.
    public var identify: Int?
    /// The indices of more requests that show it. Each is made if the one before it gets no reply, or is refused.
    public var identifyOtherwise: [Int] = []
    /// What the reply must contain: values as texts, by field name; empty if any reply will do.
    public var expected: [String: String] = [:]
    /// The requests for a reading, in this order, and how often they are repeated while the accessory is open.
    public var polls: [Poll] = []
    /// The silence between a reply and the next request, in nanoseconds.
    public var gap: Int64 = 0
    /// How long a reply may take, in nanoseconds, without the time on the wire.
    public var timeout: Int64 = 500_000_000
    /// How often a request is sent in all before it fails; at least 1.
    public var tries = 3
    /// The time between two tries, in nanoseconds.
    public var retryGap: Int64 = 0
    /// Whether the first request after opening is sent again if it is refused. The accessory's buffer may have
    /// contained a part of an earlier command.
    public var retriesRefused = false
    /// Bytes to send before the first request, and the time to wait after them; nil: none.
    public var wake: Wake?
    /// Steps that are carried out once after opening, before anything else.
    public var start: [StartStep] = []
    /// How long values that the accessory sends unasked stay valid, in nanoseconds; nil: three times their usual
    /// period, and at least 10 s.
    public var expiry: Int64?
    /// The value with which the accessory begins each round of messages that it sends unasked, where it sends several
    /// different ones in turn; nil where each message is complete by itself.
    public var round: String?
    /// A plan without requests.
    public init() {}
  }

  /// A step that is carried out once after opening.
  public enum StartStep: Sendable, Hashable {
    /// A request, by its index, and what its reply must contain: values as texts, by field name; empty if any reply
    /// will do.
    case request(Int, expected: [String: String])
    /// Sets the line's bit rate, in bits a second, when all bytes have been sent.
    case baud(UInt32)
    /// Waits this many nanoseconds.
    case wait(Int64)
  }

  /// Requests that are made together.
  public struct Poll: Sendable, Hashable {
    /// The indices of the requests.
    public var requests: [Int]
    /// Nanoseconds from one time to the next; nil: only on demand.
    public var interval: Int64?
    /// These requests, repeated at this interval.
    public init(_ requests: [Int], every interval: Int64?) { (self.requests, self.interval) = (requests, interval) }
  }

  /// How an accessory that sleeps is woken.
  public struct Wake: Sendable, Hashable {
    /// The bytes to send, without a framing.
    public var bytes: [UInt8]
    /// How long to wait after the bytes, in nanoseconds.
    public var pause: Int64
    /// A wake-up with these bytes and this pause.
    public init(_ bytes: [UInt8], pause: Int64) { (self.bytes, self.pause) = (bytes, pause) }
  }

  /// A frame or an exchange with its meaning, with which the description is checked.
  public struct Example: Sendable, Hashable {
    /// The index of the request; nil if the accessory sends the received bytes unasked.
    public var request: Int?
    /// The arguments of the request, as raw numbers by name.
    public var arguments: [String: Int] = [:]
    /// The unit that is addressed; nil: the default one. Where there are no units it is nil.
    public var unit: Int?
    /// The bytes that the request must send; nil: not checked.
    public var sent: [UInt8]?
    /// The bytes that the accessory sends; empty: not checked.
    public var received: [UInt8]
    /// Raw numbers of fields that were read before from other messages, such as counts of pieces.
    public var given: [String: Int] = [:]
    /// The values that must be read, as texts by field name: the elements of a list with a comma and a blank between
    /// them, a boolean as "true" or "false", and "unknown" for a value that must be unknown.
    public var expected: [String: String] = [:]
    /// The user's numbers for parameters; other parameters have their default numbers.
    public var parameters: [String: Double] = [:]
    /// Whether no reply must be read from the bytes, because they are damaged or refuse the request.
    public var isRefused = false
    /// Whether the request changes something in the accessory, so that sending it needs a permission.
    public var isWrite = false
    /// The line of the example in the file, from 1, for error messages.
    public var line = 0
    /// An example with these received bytes.
    public init(received: [UInt8]) { self.received = received }
  }
}
