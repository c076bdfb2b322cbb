// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryProtocols

/// A pretended accessory whose protocol a file describes: it answers the requests of the description, and sends what the
/// accessory sends by itself, with values that can be set.
///
/// Until they are set, the values are those of the description's examples.
public struct DescribedDevice: SerialDevice {
  /// What it tells of itself.
  public enum News: Sendable, Hashable {
    /// It was asked this.
    case asked(String)
    /// It was asked something that the description doesn't have.
    case unknownRequest
    /// It was asked something, and didn't hear it, as its quirks say.
    case lost
    /// It can't send this message with the values that it has.
    case unsendable(String)
  }

  /// What it does in time.
  public enum Moment: Sendable, Hashable {
    /// Sends this message, by its place.
    case push(Int)
    /// The battery loses a little.
    case drain
    /// The next piece of a message is due.
    case piece
    /// It falls asleep, unless it was asked something since this request, by its number.
    case sleep(Int)
    /// It hears again, unless it sent something since this message, by its number.
    case listen(Int)
    /// It sends by itself again, unless it was asked something since this request, by its number.
    case speak(Int)
  }

  /// A label for queues; which driver speaks with it is in its announcement.
  public static var driver: String { "described" }

  /// The protocol.
  public let description: ProtocolDescription
  /// What it says: values by their fields' names.
  public private(set) var values: [String: PlainValue] = [:]
  /// Which of the units of its line it is; nil where its protocol has none.
  public var unit: Int?
  /// By what it is known.
  public var serialNumber: String
  /// Time between two messages of what it sends by itself.
  public var period = Duration.seconds(1)
  /// Time in which the battery loses one percent; nil: it loses nothing.
  public var drainInterval: Duration?
  /// What makes it harder to speak with.
  public var quirks = DescribedQuirks()
  var state = QuirkState(DescribedQuirks())

  var codec: DescribedCodec
  private let check: ExampleCheck
  let encoder: MessageEncoder
  let decoder: MessageDecoder
  private var batch = FrameBatch<DescribedHeader>()
  /// Numbers of frames' elements by their messages, as the examples have them.
  var elements: [Int: [Int: Int]] = [:]
  /// Bytes that may begin a request without framing.
  private var pending: [UInt8] = []

  /// An accessory that speaks this protocol; where that is Modbus, by `wire`. Throws `misconfigured` if there can be no such
  /// frames.
  public init(
    _ description: ProtocolDescription, serialNumber: String, wire: ModbusWire = .serial
  ) throws(AccessoryError) {
    self.description = description
    self.serialNumber = serialNumber
    unit = description.units?.standard
    do throws(FramingParameterError) {
      codec = try DescribedCodec(description, side: .accessory, wire: wire)
      let check = try ExampleCheck(description)
      for example in description.examples.indices.reversed() {
        let described = description.examples[example]
        guard !described.isRefused, let read = check.values(example) else { continue }
        values.merge(read.values) { _, earlier in earlier }
        elements[read.message] = read.elements
      }
      self.check = check
    } catch {
      throw AccessoryError(.misconfigured, "the protocol \(description.name) can't have such frames: \(error)")
    }
    encoder = MessageEncoder(codec)
    decoder = MessageDecoder(codec)
  }

  /// Bytes are taken as they come.
  public var pause: Duration? { nil }

  /// By what others find it.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: description.name, name: description.name, model: description.name, serial: serialNumber)
  }

  // MARK: - Values

  /// Sets a value. Throws `misconfigured` for a name that no message of the description has.
  /// One value alone stands for a list of one where the field is a list.
  public mutating func set(_ name: String, to value: PlainValue) throws(AccessoryError) {
    let fields = description.messages.flatMap(\.fields)
    let names = Set(fields.map(\.name))
    guard let field = fields.first(where: { $0.name == name }) else {
      throw AccessoryError(
        .misconfigured,
        "\(description.name) has no field \(SafeText.escape(name)): there is \(names.sorted().joined(separator: ", "))")
    }
    if case .list = value {
      values[name] = value
    } else if value != .nothing, !field.flags.isEmpty || field.isList {
      values[name] = value == .text("none") ? .list([]) : .list([value])
    } else {
      values[name] = value
    }
  }

  /// Takes the values of one example of the description in place of all that it has, so that it sends what the example says
  /// is received. False when nothing can be read from the example; then all stays.
  @discardableResult
  public mutating func take(example: Int) -> Bool {
    guard description.examples.indices.contains(example), let read = check.values(example) else { return false }
    values = description.examples[example].given.mapValues { .whole($0) }
    values.merge(read.values) { _, read in read }
    elements[read.message] = read.elements
    return true
  }

  /// Sets how full the battery is, in percent: the field for that, or the remaining capacity where there is none. False
  /// when the protocol has neither.
  @discardableResult
  public mutating func set(percent: Int) -> Bool {
    let names = Set(description.messages.flatMap(\.fieldNames))
    if names.contains("battery.percent") {
      values["battery.percent"] = .whole(percent)
      return true
    }
    guard names.contains("battery.remaining"), let full = values["battery.full"]?.asNumber else { return false }
    values["battery.remaining"] = .number(full * Double(percent) / 100)
    return true
  }

  /// How full the battery is; nil where that isn't known.
  public var percent: Int? {
    if let percent = values["battery.percent"]?.asNumber { return Int(exactly: percent.rounded()) }
    guard let remaining = values["battery.remaining"]?.asNumber, let full = values["battery.full"]?.asNumber, full > 0
    else { return nil }
    return Int(exactly: (remaining / full * 100).rounded())
  }

  // MARK: - What happens

  /// Begins to send what it sends by itself.
  public mutating func start() -> [SerialEffect<Self>] {
    codec.reset()
    pending = []
    state = QuirkState(quirks)
    var effects: [SerialEffect<Self>] = []
    for (index, message) in description.messages.enumerated() where message.isPushed {
      effects.append(.after(.milliseconds(50), .push(index)))
    }
    if let drainInterval { effects.append(.after(drainInterval, .drain)) }
    return effects
  }

  /// A message is due, or the battery has lost something.
  public mutating func happen(_ moment: Moment) -> [SerialEffect<Self>] {
    switch moment {
    case .push(let message):
      let sent = state.isQuiet ? [] : spoil(frames(message, for: nil))
      return sent + [.after(period, .push(message))]
    case .drain:
      if let percent, percent > 0 { set(percent: percent - 1) }
      return drainInterval.map { [.after($0, .drain)] } ?? []
    case .piece, .sleep, .listen, .speak: return happen(quirk: moment)
    }
  }

  /// Answers what arrives.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    (quirks.isEchoing ? [.send(bytes)] : []) + spoil(answers(to: bytes))
  }

  private mutating func answers(to bytes: [UInt8]) -> [SerialEffect<Self>] {
    batch.removeAll()
    codec.decode(bytes.span.bytes, into: &batch)
    var effects: [SerialEffect<Self>] = []
    var isAnswered = true
    let arrived = batch
    for index in 0..<arrived.count {
      guard let answer = answer(arrived.header(at: index), arrived.payloadBytes(at: index)) else {
        isAnswered = false
        continue
      }
      effects += answer
    }
    guard description.requests.contains(where: { if case .bytes = $0.sends { true } else { false } }) else {
      return effects + (isAnswered ? [] : hear(bytes) { $0.refusalOfUnknown() })
    }
    pending += bytes
    while let (request, count, arguments) = unframedRequest() {
      let sent = Array(pending.prefix(count))
      pending.removeFirst(count)
      effects += hear(sent) { $0.answer(request, arguments, [:], sent) }
      // Such a request may look like a frame, too.
      isAnswered = true
    }
    return effects + (isAnswered ? [] : hear(bytes) { $0.refusalOfUnknown() })
  }

  /// The unit's number as requests have it.
  private var address: Int? { unit.map { $0 &+ (description.units?.sent ?? 0) } }

  /// What a frame is answered with; nil when no request looks like it.
  private mutating func answer(_ header: DescribedHeader, _ content: [UInt8]) -> [SerialEffect<Self>]? {
    if let element = description.unitElement(of: header.framing),
      decoder.number(element, header, content.span.bytes) != address
    {
      // It is another unit's.
      return []
    }
    var sent: [UInt8] = []
    try? codec.encode(header, payload: content, into: &sent)
    if description.modbus != nil { return hear(sent) { $0.answerModbus(header, content) } }
    for (index, request) in description.requests.enumerated() {
      guard case .frame(header.framing, let fixed, let parts) = request.sends,
        fixed.allSatisfy({ decoder.number($0.key, header, content.span.bytes) == $0.value }),
        RequestMatch.fits(parts, request, Array(content[header.body]), address: address)
      else { continue }
      var numbers: [Int: Int] = [:]
      for element in 0..<64 { numbers[element] = decoder.number(element, header, content.span.bytes) }
      return hear(sent) { $0.answer(index, [:], numbers, sent) }
    }
    return nil
  }

  private func refusalOfUnknown() -> [SerialEffect<Self>] {
    guard let refusal = description.messages.firstIndex(where: \.isRefusal) else { return [.tell(.unknownRequest)] }
    return [.tell(.unknownRequest)] + frames(refusal, for: nil)
  }

  private mutating func answer(
    _ index: Int, _ arguments: [String: Int], _ numbers: [Int: Int], _ sent: [UInt8]
  ) -> [SerialEffect<Self>] {
    let request = description.requests[index]
    var effects: [SerialEffect<Self>] = [.tell(.asked(request.name))]
    if quirks.unanswered.contains(index) { return effects }
    if request.isEchoed { effects.append(.send(sent)) }
    if refuses(index) { return effects + refusal(of: index, numbers) }
    if let reply = request.reply { effects += frames(reply, for: (request, numbers)) }
    return effects
  }

  /// The request without framing that the pending bytes begin with; bytes that begin none are dropped.
  private mutating func unframedRequest() -> (request: Int, byteCount: Int, arguments: [String: Int])? {
    while !pending.isEmpty {
      var isBegun = false
      for (index, request) in description.requests.enumerated() {
        guard case .bytes(let parts) = request.sends else { continue }
        switch RequestMatch.match(parts, request, pending, address: address) {
        case .whole(let count): return (index, count, [:])
        case .begun: isBegun = true
        case .other: continue
        }
      }
      if isBegun && pending.count < 256 { return nil }
      pending.removeFirst()
    }
    return nil
  }
}

extension ProtocolDescription.Message {
  /// The names of its fields.
  var fieldNames: [String] { fields.map(\.name) }
}
