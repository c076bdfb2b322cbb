// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// One step of a search for what is at a port: something is sent and its answer awaited, or the line is listened to.
public struct IdentificationStep: Sendable {
  /// Bytes, and a pause behind them before the next.
  public struct Sending: Sendable, Hashable {
    /// What is sent.
    public var bytes: [UInt8]
    /// For how long nothing else is sent then.
    public var pause = Duration.zero

    /// Bytes without a pause.
    public init(_ bytes: [UInt8], pause: Duration = .zero) { (self.bytes, self.pause) = (bytes, pause) }
  }

  /// The kinds that can be found, by their names.
  public var kinds: [String] { candidates.map(\.kind) }
  /// How the line is set; nil where there is none to be set.
  public var line: TerminalSettings?
  /// What is sent, in this order; empty where the step listens. The last is what is answered.
  public var sends: [Sending]
  /// How often that is sent before the kind is given up.
  public var times = 1
  /// What is sent, once, when a kind answered: it takes back what the request has done.
  public var farewell: [UInt8] = []
  /// How long an answer may take without the time on the wire, or is listened.
  public var patience: Duration

  /// What could be there.
  var candidates: [Candidate]

  /// Whether nothing is sent.
  public var isListening: Bool { sends.isEmpty }

  /// A kind, and what tells whether it is there.
  struct Candidate: Sendable {
    let kind: String
    let probe: any KindProbe
  }

  /// The longest time that the step takes.
  public var longest: Duration {
    let timing = line.map { LineTiming.serial(baudRate: $0.baudRate) } ?? .instant
    let once = sends.reduce(Duration.zero) { $0 + $1.pause + timing.time(of: $1.bytes.count) } + patience
    return once * times
  }

  /// Whether the other step is the same for the port: one sending serves both.
  func isSame(as other: IdentificationStep) -> Bool {
    line == other.line && sends == other.sends && farewell == other.farewell && isListening == other.isListening
  }
}

/// What was found at a port.
public struct IdentificationFind: Sendable, Hashable {
  /// The kind, by the name of its driver or its described protocol.
  public var kind: String
  /// The number of the step that found it, from 1.
  public var step: Int
  /// How the line was set; nil where there is none.
  public var line: TerminalSettings?
  /// What its answer, or what it sent by itself, says.
  public var facts: [Fact]

  /// Something that was said: a name and a text, which may be the accessory's own.
  public struct Fact: Sendable, Hashable {
    /// What it is.
    public var name: String
    /// What it says. Escape it before showing it.
    public var text: String

    /// A name and a text.
    public init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
  }
}

/// What was heard at one rate, and belongs to nothing that was found.
public struct IdentificationNoise: Sendable, Hashable {
  /// The rate; nil where there is no line.
  public var baudRate: UInt32?
  /// Bytes in all.
  public var byteCount = 0
  /// The first of them, at most 32.
  public var first: [UInt8] = []
  /// Whether they were what had been sent.
  public var isEcho = false

  /// Whether the first bytes look like text: hardly anything but what can be printed, and line ends.
  public var looksLikeText: Bool {
    let printable = first.count { (0x20...0x7E).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }
    return first.count >= 4 && printable * 10 >= first.count * 9
  }

  mutating func take(_ bytes: [UInt8]) {
    byteCount += bytes.count
    first += bytes.prefix(max(0, Self.kept - first.count))
  }

  private static let kept = 32
}

/// What came of a search.
public struct IdentificationOutcome: Sendable {
  /// What was found, all by one step; empty when nothing was.
  public var found: [IdentificationFind] = []
  /// Kinds that answered with whole frames and refused what was asked, with their reasons.
  public var refusals: [IdentificationFind.Fact] = []
  /// What was heard beside that, a rate each, in the order of the steps.
  public var noise: [IdentificationNoise] = []
  /// Steps that the line can't do, by their numbers, with the reasons.
  public var skipped: [Int: String] = [:]
  /// How many steps were begun.
  public var stepCount = 0
}
