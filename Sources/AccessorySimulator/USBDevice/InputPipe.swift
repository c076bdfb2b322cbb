// SPDX-License-Identifier: Apache-2.0

/// Bytes that wait for IN transfers of one endpoint, divided into packets.
struct InputPipe: Sendable {
  private let maximumPacket: Int
  private let style: PacketStyle
  private var bytes: [UInt8] = []
  private var start = 0
  /// The lengths of the messages in `bytes`, where each has a packet of its own.
  private var messages: [Int] = []
  /// Whether an empty packet must follow, because the last packet was full and no bytes are left.
  private var owesEmptyPacket = false

  init(_ endpoint: SimulatedUSBEndpoint, style: PacketStyle = .stream) {
    maximumPacket = endpoint.maximumPacket
    self.style = style
  }

  /// The number of bytes that weren't sent yet.
  var count: Int { bytes.count - start }

  /// Adds bytes of one write. With `reports` they are padded to whole reports.
  mutating func append(_ more: [UInt8]) {
    bytes.removeFirst(start)
    start = 0
    bytes.append(contentsOf: more)
    if style == .messages { messages.append(more.count) }
    owesEmptyPacket = false
    let part = bytes.count % maximumPacket
    if style == .reports, part > 0 { bytes.append(contentsOf: repeatElement(0, count: maximumPacket - part)) }
  }

  /// Drops the bytes that weren't sent yet.
  mutating func clear() {
    (bytes, start, messages) = ([], 0, [])
    owesEmptyPacket = false
  }

  /// The status and the data of a transfer with this much room; nil when the transfer must wait.
  mutating func fill(room: Int) -> (status: USBStatus, data: [UInt8])? {
    guard count > 0 || owesEmptyPacket else { return nil }
    switch style {
    case .stream: return fillStream(room)
    case .prefixed(let prefix): return fillPrefixed(room, prefix)
    case .reports: return fillReports(room)
    case .messages: return fillMessage(room)
    }
  }

  /// Fills a transfer up to the last byte. If that byte fills a packet, an empty packet must follow: in the same
  /// transfer if there is room.
  private mutating func fillStream(_ room: Int) -> (USBStatus, [UInt8]) {
    owesEmptyPacket = false
    let whole = room / maximumPacket * maximumPacket
    if count > whole, whole == 0 || room > whole {
      // The next packet is larger than the remaining room.
      let packet = min(maximumPacket, count - whole)
      if packet > room - whole {
        let data = take(room)
        drop(whole + packet - room)
        return (.overflow, data)
      }
      return (.done, take(whole + packet))
    }
    let data = take(min(count, whole))
    owesEmptyPacket = count == 0 && data.count == room && !data.isEmpty
    return (.done, data)
  }

  private mutating func fillPrefixed(_ room: Int, _ prefix: [UInt8]) -> (USBStatus, [UInt8]) {
    var data: [UInt8] = []
    repeat {
      let packet = prefix + take(min(count, maximumPacket - prefix.count))
      if data.count + packet.count > room {
        return (.overflow, data + packet.prefix(room - data.count))
      }
      data += packet
    } while count > 0 && data.count % maximumPacket == 0 && data.count + maximumPacket <= room
    return (.done, data)
  }

  private mutating func fillMessage(_ room: Int) -> (USBStatus, [UInt8])? {
    guard !messages.isEmpty else { return nil }
    let length = messages.removeFirst()
    let data = take(min(length, room))
    drop(length - data.count)
    return (length > room ? .overflow : .done, data)
  }

  /// Fills a transfer with reports. All packets are full, so the transfer ends only when it is full.
  private mutating func fillReports(_ room: Int) -> (USBStatus, [UInt8])? {
    if room % maximumPacket == 0 { return room > 0 && count >= room ? (.done, take(room)) : nil }
    let needed = room / maximumPacket * maximumPacket + maximumPacket
    guard count >= needed else { return nil }
    let data = take(room)
    drop(needed - room)
    return (.overflow, data)
  }

  private mutating func take(_ count: Int) -> [UInt8] {
    defer { start += count }
    return Array(bytes[start..<(start + count)])
  }

  private mutating func drop(_ count: Int) { start += count }
}
