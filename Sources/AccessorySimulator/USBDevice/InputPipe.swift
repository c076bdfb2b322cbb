// SPDX-License-Identifier: Apache-2.0

/// Bytes on their way to the host through one endpoint, cut into packets as the host makes room for them.
struct InputPipe: Sendable {
  private let maximumPacket: Int
  private let style: PacketStyle
  private var bytes: [UInt8] = []
  private var start = 0
  /// The last packet was full and nothing is behind it: one of nothing says that this is the end.
  private var owesEmptyPacket = false

  init(_ endpoint: SimulatedUSBEndpoint, style: PacketStyle = .stream) {
    maximumPacket = endpoint.maximumPacket
    self.style = style
  }

  /// Bytes that have not left.
  var count: Int { bytes.count - start }

  /// Adds bytes that belong together.
  mutating func append(_ more: [UInt8]) {
    bytes.removeFirst(start)
    start = 0
    bytes.append(contentsOf: more)
    owesEmptyPacket = false
    let part = bytes.count % maximumPacket
    if style == .reports, part > 0 { bytes.append(contentsOf: repeatElement(0, count: maximumPacket - part)) }
  }

  /// Drops what has not left.
  mutating func clear() {
    (bytes, start) = ([], 0)
    owesEmptyPacket = false
  }

  /// What fills a transfer with so much room; nil when it isn't over yet.
  mutating func fill(room: Int) -> (status: USBStatus, data: [UInt8])? {
    guard count > 0 || owesEmptyPacket else { return nil }
    switch style {
    case .stream: return fillStream(room)
    case .prefixed(let prefix): return fillPrefixed(room, prefix)
    case .reports: return fillReports(room)
    }
  }

  /// A transfer ends with the last byte: if that fills a packet, an empty one comes behind it, within the same
  /// transfer if that has room.
  private mutating func fillStream(_ room: Int) -> (USBStatus, [UInt8]) {
    owesEmptyPacket = false
    let whole = room / maximumPacket * maximumPacket
    if count > whole, whole == 0 || room > whole {
      // The next packet doesn't fit into what is left.
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

  /// All packets are full, so a transfer is over only when it is full itself.
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
