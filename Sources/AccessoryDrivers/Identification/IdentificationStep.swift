// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// A step of an identification: sends bytes and awaits the reply, or only listens.
public struct IdentificationStep: Sendable {
  /// Bytes to send, and the pause after them.
  public struct Sending: Sendable, Hashable {
    /// The bytes to send.
    public var bytes: [UInt8]
    /// The pause after the bytes.
    public var pause = Duration.zero

    /// Bytes to send, and the pause after them.
    public init(_ bytes: [UInt8], pause: Duration = .zero) { (self.bytes, self.pause) = (bytes, pause) }
  }

  /// The names of the kinds that the step can find.
  public var kinds: [String] { candidates.map(\.kind) }
  /// The settings of the line; nil when there is no serial line.
  public var line: TerminalSettings?
  /// The characteristics that carry the bytes, and what is told before; nil for what isn't a Bluetooth Low Energy device.
  public var gatt: GATTSettings?
  /// What to send, in order; the accessory answers the last. Empty when the step only listens.
  public var sends: [Sending]
  /// How often this is sent before the step ends without a find.
  public var times = 1
  /// Bytes that are sent once after a kind was found, to undo what the request did. Empty when that isn't needed.
  public var farewell: [UInt8] = []
  /// The timeout of a reply, without the time on the wire; or how long the step listens.
  public var timeout: Duration

  /// The kinds that the step can find, with their probes.
  var candidates: [Candidate]

  /// Whether the step sends nothing.
  public var isListening: Bool { sends.isEmpty }

  /// A kind, and the probe that tests for it.
  struct Candidate: Sendable {
    let kind: String
    let probe: any KindProbe
  }

  /// The longest time that the step takes: its waits, and what the port's own calls may need.
  public var longest: Duration {
    guard !isListening else { return timeout + Self.callTime }
    let timing =
      line.map {
        LineStatus(baudRate: $0.baudRate, dataBits: $0.dataBits, parity: $0.parity, stopBits: $0.stopBits).timing
      } ?? .instant
    let before = sends.dropLast().reduce(Duration.zero) { $0 + $1.pause + timing.time(of: $1.bytes.count) }
    let undoing = farewell.isEmpty ? Duration.zero : Self.farewellTime + timing.time(of: farewell.count)
    return timing.silence + (before + patience(timing)) * times + undoing + Self.callTime * times
  }

  /// The longest wait for a reply from the last request on: that of the most patient probe.
  func patience(_ timing: LineTiming) -> Duration {
    let start = MonotonicTime(nanoseconds: 0)
    return candidates.reduce(timeout) { longest, candidate in
      var probe = candidate.probe
      probe.start(now: start, timing: timing)
      return max(longest, (probe.deadline ?? start) - start)
    }
  }

  /// How long the bytes that undo a request may take to show their effect.
  static let farewellTime = Duration.milliseconds(200)
  /// The time for setting a line and writing to it, with timers that are late, on a busy machine.
  private static let callTime = Duration.milliseconds(40)

  /// Whether another step sends the same bytes with the same settings, so that both can be one step.
  func isSame(as other: IdentificationStep) -> Bool {
    line == other.line && gatt == other.gatt && sends == other.sends && farewell == other.farewell
      && isListening == other.isListening
  }
}

/// A kind of accessory that was found at a port.
public struct IdentificationFind: Sendable, Hashable {
  /// The kind: the name of its driver or described protocol.
  public var kind: String
  /// The number of the step that found it, counted from 1.
  public var step: Int
  /// The settings of the line; nil when there is no serial line.
  public var line: TerminalSettings?
  /// Values from its reply, or from the message that it sent by itself.
  public var facts: [Fact]

  init(kind: String, step: Int, line: TerminalSettings? = nil, facts: [Fact]) {
    (self.kind, self.step, self.line, self.facts) = (kind, step, line, facts)
  }

  /// A kind that was named, and not found.
  package init(named kind: String) { self.init(kind: kind, step: 0, line: nil, facts: []) }

  /// A name with a text, which may come from the accessory.
  public struct Fact: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The text, not escaped: escape it before you show it.
    public var text: String

    /// A fact with this name and text.
    public init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
  }
}

/// Bytes that were received at one baud rate and belong to no kind that was found.
public struct IdentificationNoise: Sendable, Hashable {
  /// The baud rate; nil when there is no serial line.
  public var baudRate: UInt32?
  /// The number of bytes.
  public var byteCount = 0
  /// The first bytes, at most 32.
  public var first: [UInt8] = []
  /// Whether the bytes include an echo of a request.
  public var isEcho = false

  /// Whether the first bytes look like text: at least nine in ten are printable ASCII, tabs or line ends.
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

/// The result of an identification.
public struct IdentificationOutcome: Sendable {
  /// The kinds that were found, all by the same step; empty when none was.
  public var found: [IdentificationFind] = []
  /// Kinds that answered with valid frames but refused the request, with their reasons.
  public var refusals: [IdentificationFind.Fact] = []
  /// Other bytes that were received: an entry for each baud rate, in the order of the steps.
  public var noise: [IdentificationNoise] = []
  /// The steps that the line can't carry out, by number, with the reasons.
  public var skipped: [Int: String] = [:]
  /// The number of steps that were begun.
  public var stepCount = 0

  /// Nothing was found yet.
  public init() {}
}
