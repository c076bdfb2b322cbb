// SPDX-License-Identifier: Apache-2.0

/// Decodes a kernel's requests from a stream that arrives in pieces.
///
/// It buffers at most one incomplete request, whose length is limited.
struct USBIPDecoder: Sendable {
  /// The size of a header, in bytes.
  static let headerSize = 48
  /// The largest transfer that is accepted, in bytes: usbfs allows no more for all programs together (usbfs_memory_mb).
  static let largestTransfer = 16 << 20

  private var bytes: [UInt8] = []
  private var start = 0
  private var error: USBIPError?

  /// The number of buffered bytes.
  var keptCount: Int { bytes.count - start }

  /// Adds received bytes.
  mutating func append(_ piece: [UInt8]) {
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: piece)
  }

  /// The next request; nil when it is incomplete. After an invalid request, every call throws.
  mutating func next() throws(USBIPError) -> USBIPRequest? {
    if let error { throw error }
    do throws(USBIPError) {
      return try decode()
    } catch {
      self.error = error
      bytes = []
      start = 0
      throw error
    }
  }

  private mutating func decode() throws(USBIPError) -> USBIPRequest? {
    guard keptCount >= Self.headerSize else { return nil }
    let sequence = word(1)
    switch word(0) {
    case 1:
      guard var transfer = try transfer(sequence) else { return nil }
      let end = start + Self.headerSize + (transfer.isIn ? 0 : transfer.length)
      transfer.data = Array(bytes[(start + Self.headerSize)..<end])
      start = end
      return .submit(transfer)
    case 2:
      defer { start += Self.headerSize }
      return .unlink(sequence: sequence, target: word(5))
    default: throw .unknownCommand(word(0))
    }
  }

  /// The transfer of the header at `start`; nil when its data is incomplete.
  private func transfer(_ sequence: UInt32) throws(USBIPError) -> USBIPTransfer? {
    let (direction, endpoint, length, packets) = (word(3), word(4), word(6), word(8))
    guard direction <= 1 else { throw .badDirection(direction) }
    guard endpoint <= 15 else { throw .badEndpoint(endpoint) }
    guard length <= Self.largestTransfer else { throw .tooLong(length) }
    // A transfer that isn't isochronous has all bits set here, according to the documentation; Linux sends zero.
    guard packets == 0 || packets == .max else { throw .isochronous }
    if direction == 0, keptCount < Self.headerSize + Int(length) { return nil }
    let setup = bytes[(start + 40)..<(start + Self.headerSize)]
    return USBIPTransfer(
      sequence: sequence, endpoint: UInt8(direction << 7 | endpoint), flags: USBIPTransferFlags(rawValue: word(5)),
      length: Int(length), setup: USBSetup(setup))
  }

  /// The big-endian number at position `index` of the header.
  private func word(_ index: Int) -> UInt32 {
    let at = start + 4 * index
    return UInt32(bytes[at]) << 24 | UInt32(bytes[at + 1]) << 16 | UInt32(bytes[at + 2]) << 8 | UInt32(bytes[at + 3])
  }
}

extension USBSetup {
  /// The setup packet in these eight bytes.
  init(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    let word = { (at: Int) in UInt16(bytes[at]) | UInt16(bytes[at + 1]) << 8 }
    self.init(requestType: bytes[0], request: bytes[1], value: word(2), index: word(4), length: word(6))
  }
}
