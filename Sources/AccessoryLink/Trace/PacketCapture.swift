// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Encodes traffic as a capture file for Wireshark: pcapng, little-endian, with the link type RTAC serial.
///
/// The block format is defined in draft-ietf-opsawg-pcapng. A packet begins with the 12-byte header of
/// LINKTYPE_RTAC_SERIAL (250): seconds and microseconds since 1970, big-endian; the event; the state of the modem lines,
/// here always 0 because it isn't recorded; two bytes of 0. The bytes from the line follow. An unplug and a gap in the
/// recording become packets without bytes; a comment says what happened.
///
/// Every method returns the encoded bytes, and the caller writes them to the file. Packets aren't stored here.
public struct PacketCapture: Sendable {
  /// The event in a packet's header, with the values of LINKTYPE_RTAC_SERIAL.
  private enum Event: UInt8 {
    case statusChange = 0, sent = 1, received = 2, dataLost = 5
  }

  /// LINKTYPE_RTAC_SERIAL: serial traffic with a 12-byte header.
  static let linkType: UInt16 = 250
  /// The most bytes from the line in one packet. A longer record becomes several packets. Wireshark reads packets of up
  /// to 262,144 bytes.
  static let pieceLimit = 65_536
  /// The most bytes of a text in an option; longer texts are cut.
  private static let textLimit = 1_000

  private var interfaceCount: UInt32 = 0
  /// The moment of the current trace's time 0, since 1970, UTC.
  private var began = Duration.zero

  /// Creates a capture without interfaces or packets.
  public init() {}

  /// The section header, with which the file begins. `program` is the name of the program that writes the file.
  public static func header(program: String) -> [UInt8] {
    var body: [UInt8] = []
    body.append(littleEndian: UInt32(0x1A2B_3C4D))
    body.append(littleEndian: UInt16(1))
    body.append(littleEndian: UInt16(0))
    // The section's length; this value means that it isn't known.
    body.append(littleEndian: UInt64.max)
    option(4, text: program, &body)
    endOptions(&body)
    return block(0x0A0D_0D0A, body)
  }

  /// Begins a trace, which gets an interface of its own with this name. `began` is the moment of the trace's time 0,
  /// since 1970, UTC. Write the returned bytes after the header and before the trace's packets.
  public mutating func begin(name: String, framing: TraceFraming, began: Duration) -> [UInt8] {
    self.began = max(.zero, began)
    interfaceCount += 1
    var body: [UInt8] = []
    body.append(littleEndian: Self.linkType)
    body.append(littleEndian: UInt16(0))
    // The limit of a packet's length; 0 means no limit.
    body.append(littleEndian: UInt32(0))
    Self.option(2, text: name, &body)
    Self.option(3, text: "frames \(framing.name)", &body)
    // if_tsresol: times are in units of 10⁻⁹ seconds.
    Self.option(9, [9], &body)
    Self.endOptions(&body)
    return Self.block(1, body)
  }

  /// Returns the packets for a record.
  ///
  /// - Precondition: `begin` was called.
  public func packets(_ record: TraceRecord) -> [UInt8] {
    var output: [UInt8] = []
    if record.lostBytes > 0 {
      let text = "\(Amount.of(record.lostBytes, "byte", is: ("is", "are"))) missing here: they came too fast"
      packet(.dataLost, nil, [], at: record.time, comment: text, &output)
    }
    if let note = record.note { packet(.statusChange, nil, [], at: record.time, comment: note, &output) }
    var rest = record.bytes[...]
    while !rest.isEmpty {
      let isSent = record.direction == .toDevice
      packet(isSent ? .sent : .received, record.direction, rest.prefix(Self.pieceLimit), at: record.time, &output)
      rest = rest.dropFirst(Self.pieceLimit)
    }
    return output
  }

  /// Returns the packet for an unplug (`isThere` is false) or for plugging in again, at this time of the trace.
  ///
  /// - Precondition: `begin` was called.
  public func plug(_ isThere: Bool, at time: Duration) -> [UInt8] {
    var output: [UInt8] = []
    let text = isThere ? "the accessory was plugged in again" : "the accessory was unplugged"
    packet(.statusChange, nil, [], at: time, comment: text, &output)
    return output
  }

  private func packet(
    _ event: Event, _ direction: ByteDirection?, _ bytes: ArraySlice<UInt8>, at time: Duration,
    comment: String? = nil, _ output: inout [UInt8]
  ) {
    precondition(interfaceCount > 0, "a packet belongs to a trace that has begun")
    let nanoseconds = UInt64(max(0, (began + max(.zero, time)).inNanoseconds))
    var data: [UInt8] = []
    data.append(bigEndian: UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000))
    data.append(bigEndian: UInt32(nanoseconds % 1_000_000_000 / 1_000))
    data += [event.rawValue, 0, 0, 0]
    data += bytes
    var body: [UInt8] = []
    body.append(littleEndian: interfaceCount - 1)
    body.append(littleEndian: UInt32(truncatingIfNeeded: nanoseconds >> 32))
    body.append(littleEndian: UInt32(truncatingIfNeeded: nanoseconds))
    body.append(littleEndian: UInt32(data.count))
    body.append(littleEndian: UInt32(data.count))
    body += data
    Self.pad(&body)
    if let comment { Self.option(1, text: comment, &body) }
    if let direction { Self.option(2, [direction == .fromDevice ? 1 : 2, 0, 0, 0], &body) }
    Self.endOptions(&body)
    output += Self.block(6, body)
  }

  // MARK: - Blocks

  private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
    let length = UInt32(body.count + 12)
    var block: [UInt8] = []
    block.append(littleEndian: type)
    block.append(littleEndian: length)
    block += body
    block.append(littleEndian: length)
    return block
  }

  private static func option(_ code: UInt16, text: String, _ body: inout [UInt8]) {
    var bytes = Array(text.utf8.prefix(textLimit))
    // Removes the bytes of an incomplete character at the end.
    while String(validating: bytes, as: UTF8.self) == nil, !bytes.isEmpty { bytes.removeLast() }
    option(code, bytes, &body)
  }

  private static func option(_ code: UInt16, _ value: [UInt8], _ body: inout [UInt8]) {
    body.append(littleEndian: code)
    body.append(littleEndian: UInt16(value.count))
    body += value
    pad(&body)
  }

  private static func endOptions(_ body: inout [UInt8]) { body += [0, 0, 0, 0] }

  private static func pad(_ body: inout [UInt8]) { while !body.count.isMultiple(of: 4) { body.append(0) } }
}

extension [UInt8] {
  fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
