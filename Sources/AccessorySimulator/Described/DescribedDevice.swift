// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryDiscovery
import AccessoryProtocols

/// A simulated accessory with a described protocol. It answers the description's requests, and sends the messages that
/// such an accessory sends by itself. Its values can be set.
///
/// The initial values are those of the description's examples.
public struct DescribedDevice: SerialDevice {
  /// An event of the device.
  public enum News: Sendable, Hashable {
    /// The device received the request with this name.
    case asked(String)
    /// The device received a request that the description doesn't have.
    case unknownRequest
    /// A quirk made the device lose a request.
    case lost
    /// The message with this name can't be encoded with the current values.
    case unsendable(String)
  }

  /// An action that the device schedules.
  public enum ScheduledAction: Sendable, Hashable {
    /// Sends the message with this index, once.
    case push(Int)
    /// Sends all pushed messages, in the description's order.
    case round
    /// The battery loses one percent.
    case drain
    /// Sends the next piece of a message.
    case piece
    /// The device falls asleep, unless it has received a request after the one with this number.
    case sleep(Int)
    /// The device receives requests again, unless it has sent a message after the one with this number.
    case listen(Int)
    /// The device sends pushed messages again, unless it has received a request after the one with this number.
    case speak(Int)
  }

  /// A label for dispatch queues. The driver's name is in `announcement`.
  public static var driver: String { "described" }

  /// The description of the protocol.
  public var description: ProtocolDescription { boxedDescription }
  @Boxed private var boxedDescription: ProtocolDescription
  /// The current values, by field name.
  public internal(set) var values: [String: PlainValue] = [:]
  /// The charge that was set last, unless values were set since.
  var chosenPercent: Int?
  /// The device's unit number on its line; nil when the protocol has no units.
  public var unit: Int?
  /// The serial number in the announcement.
  public var serialNumber: String
  /// The time between two rounds of pushed messages.
  public var period = Duration.seconds(1)
  /// The time in which the battery loses one percent; nil for no drain.
  public var drainInterval: Duration?
  /// How the device deviates from the ideal.
  public var quirks = DescribedQuirks()
  var state = QuirkState(DescribedQuirks())

  var codec: DescribedCodec
  private let check: ExampleCheck
  let encoder: MessageEncoder
  let decoder: MessageDecoder
  private var batch = FrameBatch<DescribedHeader>()
  /// The raw numbers of the elements of each message's frames, from the examples.
  var elements: [Int: [Int: Int]] = [:]
  /// Bytes that may be the beginning of a request without a framing.
  private var pending: [UInt8] = []
  /// Of an accessory that advertises: the message that it sends, which is the first one that has the value that was set first.
  var advertised: Int?
  /// The adapter's settings, where the protocol is that of an ELM327; nil for all others.
  var adapter: ELM327Adapter?

  /// A device with this protocol. `wire` is the encoding of Modbus frames. Throws `misconfigured` when the
  /// description's frames aren't possible.
  public init(
    _ description: ProtocolDescription, serialNumber: String, wire: ModbusWire = .serial
  ) throws(AccessoryError) {
    boxedDescription = description
    self.serialNumber = serialNumber
    unit = description.units?.defaultUnit
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
      throw AccessoryError(.misconfigured, "the framing of the protocol \(description.name) is not possible: \(error)")
    }
    encoder = MessageEncoder(codec)
    decoder = MessageDecoder(codec)
    if description.name == ELM327Adapter.protocolName { adapter = ELM327Adapter() }
  }

  /// Nil: bytes are handled as they arrive.
  public var pause: Duration? { nil }

  /// The announcement for other programs.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: description.name, name: description.name, model: description.name, serial: serialNumber)
  }

  // MARK: - Values

  /// Sets a value. For a field that is a list, a single value becomes a list with one element. What depends on the
  /// battery's charge follows `battery.percent`. Throws `misconfigured` for a name that no message of the description has.
  public mutating func set(_ name: String, to value: PlainValue) throws(AccessoryError) {
    let fields = description.messages.flatMap(\.fields)
    let names = Set(fields.map(\.name))
    guard let field = fields.first(where: { $0.name == name }) else {
      throw AccessoryError(
        .misconfigured,
        "\(description.name) has no field \(SafeText.escape(name)): it has \(names.sorted().joined(separator: ", "))"
      )
    }
    chosenPercent = nil
    if description.advertisement != nil { advertised = advertised ?? message(with: name) }
    let before = name == "battery.percent" && value.asNumber != nil ? reported() : nil
    if case .list = value {
      values[name] = value
    } else if value != .nothing, !field.flags.isEmpty || field.isList {
      values[name] = value == .text("none") ? .list([]) : .list([value])
    } else {
      values[name] = value
    }
    if let before { followCharge(from: before) }
  }

  /// Replaces all values by those of an example, so that the device sends the bytes that the example expects. Returns
  /// false, and changes nothing, when the example has no values.
  @discardableResult
  public mutating func take(example: Int) -> Bool {
    guard description.examples.indices.contains(example), let read = check.values(example) else { return false }
    chosenPercent = nil
    values = description.examples[example].given.mapValues { .whole($0) }
    values.merge(read.values) { _, read in read }
    elements[read.message] = read.elements
    return true
  }

  // MARK: - Events

  /// Switches the device on: schedules the pushed messages and the drain.
  public mutating func start() -> [SerialEffect<Self>] {
    codec.reset()
    pending = []
    if adapter != nil { adapter = ELM327Adapter() }
    state = QuirkState(quirks)
    var effects: [SerialEffect<Self>] = []
    if !pushedMessages.isEmpty { effects.append(.after(.milliseconds(50), .round)) }
    if let drainInterval { effects.append(.after(drainInterval, .drain)) }
    return effects
  }

  /// Carries out a scheduled action.
  public mutating func perform(_ action: ScheduledAction) -> [SerialEffect<Self>] {
    switch action {
    case .push(let message): return state.isQuiet ? [] : spoil(frames(message, for: nil))
    case .round:
      let sent = state.isQuiet ? [] : spoil(pushedMessages.flatMap { frames($0, for: nil) })
      return sent + [.after(period, .round)]
    case .drain:
      drain()
      return drainInterval.map { [.after($0, .drain)] } ?? []
    case .piece, .sleep, .listen, .speak: return perform(quirk: action)
    }
  }

  /// Answers the requests in these bytes.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    (quirks.isEchoing ? [.send(bytes)] : []) + spoil(answers(to: bytes))
  }

  private mutating func answers(to bytes: [UInt8]) -> [SerialEffect<Self>] {
    if adapter != nil { return answerLines(in: bytes) }
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
    if description.requests.contains(where: { if case .bytes = $0.sends { true } else { false } }) {
      pending += bytes
      while let heard = unframed() {
        switch heard {
        case .request(let request, let sent, let arguments):
          effects += hear(sent) { $0.answer(request, arguments, [:], sent) }
        case .unknown(let line): effects += hear(line) { $0.refusalOfUnknown() }
        }
        // The bytes of such a request may also look like a frame without a matching request.
        isAnswered = true
      }
    }
    return effects + (isAnswered ? [] : hear(bytes) { $0.refusalOfUnknown() })
  }

  /// The unit's number as it is encoded in requests.
  private var address: Int? { unit.map { $0 &+ (description.units?.sentOffset ?? 0) } }

  /// The answer to a frame; nil when it matches no request.
  private mutating func answer(_ header: DescribedHeader, _ content: [UInt8]) -> [SerialEffect<Self>]? {
    if let element = description.unitElement(of: header.framing),
      decoder.number(element, header, content.span.bytes) != address
    {
      // The request is for another unit.
      return []
    }
    var sent: [UInt8] = []
    try? codec.encode(header, payload: content, into: &sent)
    if description.modbus != nil { return hear(sent) { $0.answerModbus(header, content) } }
    for (index, request) in description.requests.enumerated() {
      guard case .frame(header.framing, let fixed, let parts) = request.sends,
        fixed.allSatisfy({ decoder.number($0.key, header, content.span.bytes) == $0.value }),
        var arguments = RequestMatch.arguments(parts, request, Array(content[header.body]), address: address)
      else { continue }
      var numbers: [Int: Int] = [:]
      for element in 0..<64 { numbers[element] = decoder.number(element, header, content.span.bytes) }
      for case .element(let place, let name) in parts { arguments[name] = numbers[place] }
      return hear(sent) { [arguments] device in device.answer(index, arguments, numbers, sent) }
    }
    return nil
  }

  private func refusalOfUnknown() -> [SerialEffect<Self>] {
    guard let refusal = description.messages.firstIndex(where: \.isRefusal) else { return [.report(.unknownRequest)] }
    return [.report(.unknownRequest)] + frames(refusal, for: nil)
  }

  private mutating func answer(
    _ index: Int, _ arguments: [String: Int], _ numbers: [Int: Int], _ sent: [UInt8]
  ) -> [SerialEffect<Self>] {
    let request = description.requests[index]
    var effects: [SerialEffect<Self>] = [.report(.asked(request.name))]
    if quirks.unanswered.contains(index) { return effects }
    if request.isEchoed { effects.append(.send(sent)) }
    if refuses(index) { return effects + refusal(of: index, numbers) }
    carryOut(request, arguments)
    if let reply = request.reply { effects += frames(reply, for: (request, numbers)) }
    return effects
  }

  /// Bytes without a framing.
  private enum Unframed {
    /// The request with this index, its bytes, and its arguments.
    case request(Int, [UInt8], [String: Int])
    /// A line that is none of the requests.
    case unknown([UInt8])
  }

  /// The request without a framing, or the unknown line, at the beginning of `pending`. Drops other bytes that can't be
  /// the beginning of a request.
  private mutating func unframed() -> Unframed? {
    var dropped: [UInt8] = []
    while let first = pending.first {
      var isBegun = false
      for (index, request) in description.requests.enumerated() {
        guard case .bytes(let parts) = request.sends else { continue }
        var arguments: [String: Int] = [:]
        switch RequestMatch.match(parts, request, pending, address: address, found: { arguments[$0] = $1 }) {
        case .whole(let count):
          let sent = Array(pending.prefix(count))
          pending.removeFirst(count)
          return .request(index, sent, arguments)
        case .begun: isBegun = true
        case .other: continue
        }
      }
      if isBegun && pending.count < 256 { return nil }
      pending.removeFirst()
      dropped.append(first)
      if first == requestEnd { return .unknown(dropped) }
    }
    return nil
  }

  /// The line end that all requests without a framing have at their end; nil where there is none.
  private var requestEnd: UInt8? {
    let ends = description.requests.compactMap { request -> UInt8?? in
      guard case .bytes(let parts) = request.sends else { return nil }
      if case .bytes(let bytes)? = parts.last { return .some(bytes.last) }
      return .some(nil)
    }
    guard let end = ends.first ?? nil, end == 0x0D || end == 0x0A, ends.allSatisfy({ $0 == end }) else { return nil }
    return end
  }
}

extension ProtocolDescription.Message {
  /// The names of the message's fields.
  var fieldNames: [String] { fields.map(\.name) }
}
