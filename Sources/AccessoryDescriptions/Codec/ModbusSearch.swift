// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Finds Modbus frames in a stream of bytes.
///
/// A reply doesn't say which request it answers, nor where it begins. The sender of a request calls `begin`. From then
/// on only two kinds of frames are found, wherever they begin: a reply of the same unit and function with as many
/// values as the request asked for, and an exception to the request. The request's own bytes, which many RS-485
/// adapters echo, are skipped. Without a request, or for a program that only watches a line, frames of all forms are
/// found by their checks.
///
/// A frame is delivered in the form of a serial line, with its check, even if it came over a network. The longest frame
/// bounds the memory, besides the bytes of one call.
struct ModbusSearch: Sendable {
  /// What has been counted so far.
  private(set) var counters = FrameCounters()
  /// The form in which the frames travel.
  let wire: ModbusWire
  private let isAccessory: Bool
  private let check = ModbusCheck()
  private var kept: [UInt8] = []
  /// How many of the kept bytes have been examined as the end of an awaited frame.
  private var checked = 0
  /// While no reply is awaited: how many bytes must be kept before another search makes sense.
  private var needed = 0
  private var awaited: Awaited?
  /// Whether the line echoes what is sent on it, as far as that is known.
  private var hasEcho = false
  /// The number of the last request, for Modbus TCP.
  private var number: UInt16 = 0

  /// The reply that is awaited.
  private struct Awaited: Sendable {
    /// The request, in the form of a serial line.
    var request: [UInt8]
    /// The length of the reply in bytes, in the form of a serial line.
    var byteCount: Int
    var form: ModbusForm
    /// Whether the echo of the request has arrived.
    var isEchoed = false

    init?(_ request: [UInt8]) {
      guard request.count == 8 else { return nil }
      self.request = request
      let function = Int(request[1])
      form = Modbus.readFunctions.contains(function) ? .reply : .request
      let count = Int(request[4]) << 8 | Int(request[5])
      byteCount = form == .reply ? 5 + min(Modbus.byteCount(of: count, function: function), 250) : 8
    }
  }

  init(_ wire: ModbusWire, isAccessory: Bool) { (self.wire, self.isAccessory) = (wire, isAccessory) }

  /// Whether bytes are kept among which silence may show a frame; false while a reply is awaited.
  var hasUnfinishedFrame: Bool { awaited == nil && !kept.isEmpty }
  var unfinishedByteCount: Int { kept.count }

  // MARK: - Requests

  /// Notes that a request is sent, and returns its bytes for the wire. A repeated request keeps its number, as a late
  /// reply to the first one is valid for the second.
  mutating func begin(_ request: [UInt8], isRepeated: Bool) -> [UInt8] {
    awaited = Awaited(request)
    guard wire == .network else {
      // Earlier bytes can't be a reply to this request.
      drop(kept.count)
      return request
    }
    if !isRepeated { number &+= 1 }
    return ModbusHeader.wrapped(request, number: number)
  }

  // MARK: - Received bytes

  mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<DescribedHeader>) {
    kept.append(contentsOf: bytes)
    if awaited != nil, wire != .network { seek(into: &batch) } else if kept.count >= needed { scan(into: &batch) }
  }

  /// Handles silence on the line: delivers a whole frame behind an unfinished one.
  mutating func idle(into batch: inout FrameBatch<DescribedHeader>) {
    guard awaited == nil, kept.count > 1 else { return }
    let bytes = kept
    for start in 1..<bytes.count {
      guard case .whole = probe(bytes.span.bytes, at: start) else { continue }
      drop(start)
      return scan(into: &batch)
    }
  }

  /// Ends waiting for a reply, and drops the part of it that has arrived. Without an awaited reply, gives up the
  /// unfinished frame.
  mutating func expire(into batch: inout FrameBatch<DescribedHeader>) {
    defer { awaited = nil }
    if awaited != nil, wire != .network { return drop(kept.count) }
    guard !kept.isEmpty else { return }
    drop(1)
    scan(into: &batch)
  }

  mutating func reset() {
    awaited = nil
    (kept, checked, needed) = ([], 0, 0)
  }

  private mutating func drop(_ count: Int) {
    counters.skippedBytes += UInt64(count)
    kept.removeFirst(count)
    (checked, needed) = (0, 0)
  }

  private mutating func deliver(
    _ form: ModbusForm, _ frame: [UInt8], number: UInt16? = nil, isStray: Bool = false,
    into batch: inout FrameBatch<DescribedHeader>
  ) {
    counters.frames += 1
    var header = DescribedHeader(framing: form.rawValue, body: form.body(frame.count))
    (header.number, header.isStray) = (number, isStray)
    batch.append(.whole, header, payload: frame.span.bytes)
  }

  // MARK: - Awaited replies on a serial line

  private enum Found {
    case frame(ModbusForm, Range<Int>)
    case echo(Range<Int>)
  }

  private mutating func seek(into batch: inout FrameBatch<DescribedHeader>) {
    while let awaited {
      let (found, damaged) = find(awaited)
      counters.payloadErrors += UInt64(damaged)
      switch found {
      case .echo(let range):
        hasEcho = true
        self.awaited?.isEchoed = true
        counters.skippedBytes += UInt64(range.lowerBound)
        kept.removeFirst(range.upperBound)
        checked = 0
      case .frame(let form, let range):
        if awaited.form == .reply { hasEcho = awaited.isEchoed }
        self.awaited = nil
        deliver(form, Array(kept[range]), into: &batch)
        counters.skippedBytes += UInt64(kept.count - range.count)
        (kept, checked, needed) = ([], 0, 0)
        return
      case nil:
        // Bytes that are too far back can't be part of the reply any more.
        let surplus = kept.count - max(awaited.byteCount, awaited.request.count) + 1
        if surplus > 0 {
          counters.skippedBytes += UInt64(surplus)
          kept.removeFirst(surplus)
        }
        checked = kept.count
        return
      }
    }
  }

  /// The first frame that ends behind the bytes that were examined before, and how many damaged frames there are in
  /// front of it.
  private func find(_ awaited: Awaited) -> (found: Found?, damaged: Int) {
    let bytes = kept.span.bytes
    var damaged = 0
    for end in checked..<kept.count {
      let end = end + 1
      if end >= 8, isRequest(awaited, bytes, at: end - 8) {
        if awaited.form == .reply || hasEcho && !awaited.isEchoed { return (.echo((end - 8)..<end), damaged) }
        return (.frame(.request, (end - 8)..<end), damaged)
      }
      for (form, count) in [(awaited.form, awaited.byteCount), (.exception, 5)] where end >= count {
        guard begins(form, awaited, bytes, at: end - count) else { continue }
        if check.isGood(bytes.extracting((end - count)..<end)) { return (.frame(form, (end - count)..<end), damaged) }
        damaged += 1
      }
    }
    return (nil, damaged)
  }

  private func isRequest(_ awaited: Awaited, _ bytes: RawSpan, at start: Int) -> Bool {
    for offset in 0..<8 where bytes.byte(at: start + offset) != awaited.request[offset] { return false }
    return true
  }

  /// Whether a reply to the awaited request can begin like this.
  private func begins(_ form: ModbusForm, _ awaited: Awaited, _ bytes: RawSpan, at start: Int) -> Bool {
    guard bytes.byte(at: start) == awaited.request[0] else { return false }
    let function = bytes.byte(at: start + 1)
    switch form {
    case .exception: return function == awaited.request[1] | Modbus.exceptionBit
    case .reply:
      return function == awaited.request[1] && Int(bytes.byte(at: start + 2)) == awaited.byteCount - 5
    case .request:
      // The reply to a write request has the address of its first register.
      return function == awaited.request[1] && bytes.byte(at: start + 2) == awaited.request[2]
        && bytes.byte(at: start + 3) == awaited.request[3]
    }
  }

  // MARK: - Frames without a request

  private enum Probe {
    case none
    case needs(Int)
    case whole(ModbusForm, Range<Int>, number: UInt16?)
    /// A Modbus TCP frame of an unknown form.
    case other(byteCount: Int)
  }

  private mutating func scan(into batch: inout FrameBatch<DescribedHeader>) {
    let bytes = kept
    var index = 0
    needed = 0
    scanning: while index < bytes.count {
      switch probe(bytes.span.bytes, at: index) {
      case .needs(let count):
        needed = count
        break scanning
      case .whole(let form, let range, let number):
        var frame = Array(bytes[range])
        if number != nil { check.append(to: &frame) }
        let isStray = isStray(form, frame, number)
        if !isStray { awaited = nil }
        deliver(form, frame, number: number, isStray: isStray, into: &batch)
        index = range.upperBound
      case .other(let count):
        counters.malformed += 1
        counters.skippedBytes += UInt64(count)
        index += count
      case .none:
        counters.skippedBytes += 1
        index += 1
      }
    }
    kept = Array(bytes[index...])
    checked = 0
  }

  /// Whether a Modbus TCP frame isn't the awaited reply; false if none is awaited.
  private func isStray(_ form: ModbusForm, _ frame: [UInt8], _ number: UInt16?) -> Bool {
    guard wire == .network, let awaited else { return false }
    guard number == self.number, begins(form, awaited, frame.span.bytes, at: 0) else { return true }
    return form != .exception && (form != awaited.form || frame.count != awaited.byteCount)
  }

  private func probe(_ bytes: RawSpan, at origin: Int) -> Probe {
    var needs: Int?
    let available = bytes.byteCount - origin
    if wire != .network {
      for form in isAccessory ? [.request] : [.exception, .request, .reply] as [ModbusForm] {
        guard let count = form.byteCount(bytes, at: origin) else { continue }
        if count > available {
          needs = min(needs ?? .max, count)
        } else if check.isGood(bytes.extracting(origin..<(origin + count))) {
          return .whole(form, origin..<(origin + count), number: nil)
        }
      }
    }
    if wire != .serial, let (count, isKnown) = ModbusHeader.frame(bytes, at: origin) {
      if !isKnown || count > available {
        needs = min(needs ?? .max, count)
      } else {
        let content = (origin + ModbusHeader.byteCount)..<(origin + count)
        let number = UInt16(truncatingIfNeeded: bytes.integer(at: origin, byteCount: 2, .bigEndian))
        if let form = ModbusHeader.form(bytes.extracting(content), isRequest: isAccessory) {
          return .whole(form, content, number: number)
        }
        if wire == .network { return .other(byteCount: count) }
      }
    }
    return needs.map { .needs($0) } ?? .none
  }
}
