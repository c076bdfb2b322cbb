// SPDX-License-Identifier: Apache-2.0

import CLibusb

/// One transfer of libusb with the buffer that belongs to it, used again and again.
///
/// Used by one thread at a time: the I/O thread, and the setup queue after the I/O thread has passed it on to be freed.
final class USBTransfer {
  /// How a transfer ended.
  enum Outcome {
    case completed, cancelled, gone, stalled, failed
  }

  private let transfer: UnsafeMutablePointer<libusb_transfer>
  private let buffer: UnsafeMutableRawBufferPointer
  private unowned(unsafe) let owner: USBTransport
  /// With libusb, which will call back.
  private(set) var isPending = false

  /// Bytes the buffer holds.
  var capacity: Int { buffer.count }
  /// Bytes that the last round carried.
  var count: Int { min(max(0, Int(transfer.pointee.actual_length)), buffer.count) }
  /// Bytes that it was filled with for the device.
  private(set) var filled = 0
  /// Those of them that are somebody's: all but padding.
  private var payload = 0
  /// An empty packet follows: so the device knows that they end.
  var endsWithZeroPacket = false
  /// How many of those the device has taken.
  var taken: Int { min(count, payload) }
  /// Bytes that were to be carried.
  var length: Int { Int(transfer.pointee.length) }
  /// What the last round brought.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
  /// True when it carries to the host.
  var isInput: Bool { transfer.pointee.endpoint & 0x80 != 0 }

  /// A transfer for an endpoint of `handle`. `owner` lives for as long as it is pending.
  init?(_ handle: OpaquePointer, _ endpoint: USBEndpointDescription, capacity: Int, owner: USBTransport) {
    guard let transfer = libusb_alloc_transfer(0) else { return nil }
    self.transfer = transfer
    self.owner = owner
    buffer = .allocate(byteCount: capacity, alignment: 64)
    transfer.pointee.dev_handle = handle
    transfer.pointee.endpoint = endpoint.address
    transfer.pointee.type = UInt8(
      (endpoint.transfer == .bulk ? LIBUSB_TRANSFER_TYPE_BULK : LIBUSB_TRANSFER_TYPE_INTERRUPT).rawValue)
    transfer.pointee.buffer = buffer.bindMemory(to: UInt8.self).baseAddress
    transfer.pointee.timeout = 0
    transfer.pointee.callback = { transfer in
      guard let me = transfer?.pointee.user_data else { return }
      Unmanaged<USBTransfer>.fromOpaque(me).takeUnretainedValue().called()
    }
    transfer.pointee.user_data = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    libusb_free_transfer(transfer)
    buffer.deallocate()
  }

  /// Asks for up to `length` bytes. Returns libusb's error, 0 for none.
  func receive(_ length: Int) -> CInt { submit(length, addsZeroPacket: false) }

  /// Begins to fill it anew.
  func clear() { (filled, payload, endsWithZeroPacket) = (0, 0, false) }

  /// Adds bytes, for which there must be room.
  func append(_ bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(from: bytes)
    filled += bytes.count
    payload += bytes.count
  }

  /// Adds so many zeros, which are nobody's.
  func pad(_ count: Int) {
    UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + count)])
      .initializeMemory(as: UInt8.self, repeating: 0)
    filled += count
  }

  /// Sends what it was filled with.
  func send() -> CInt { submit(filled, addsZeroPacket: endsWithZeroPacket) }

  /// Sends once more what was not taken.
  func sendRest() -> CInt {
    let (sent, length) = (count, length)
    payload -= min(sent, payload)
    if sent > 0, sent < length {
      UnsafeMutableRawBufferPointer(rebasing: buffer[..<(length - sent)])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[sent..<length]))
    }
    return submit(max(0, length - sent), addsZeroPacket: nil)
  }

  private func submit(_ length: Int, addsZeroPacket: Bool?) -> CInt {
    transfer.pointee.length = CInt(length)
    transfer.pointee.actual_length = 0
    if let addsZeroPacket {
      transfer.pointee.flags = addsZeroPacket ? UInt8(LIBUSB_TRANSFER_ADD_ZERO_PACKET.rawValue) : 0
    }
    isPending = true
    let result = libusb_submit_transfer(transfer)
    if result != 0 { isPending = false }
    return result
  }

  /// What ends this round from another thread.
  var cancellation: Cancellation { Cancellation(transfer: transfer) }

  /// Cancels a transfer; libusb still calls back. The kernel makes the caller wait for the host controller, so this
  /// runs on the setup queue, and retains the transfer until it is done.
  struct Cancellation: @unchecked Sendable {
    // Sendable: libusb allows this call from any thread while the transfer is allocated, pending or not.
    fileprivate let transfer: UnsafeMutablePointer<libusb_transfer>

    func run() { libusb_cancel_transfer(transfer) }
  }

  private func called() {
    isPending = false
    let outcome: Outcome =
      switch transfer.pointee.status {
      case LIBUSB_TRANSFER_COMPLETED: .completed
      case LIBUSB_TRANSFER_CANCELLED: .cancelled
      case LIBUSB_TRANSFER_NO_DEVICE: .gone
      case LIBUSB_TRANSFER_STALL: .stalled
      default: .failed  // an error on the bus, more bytes than asked for, a limit of time that nobody set
      }
    // libusb calls back from where its events are handled, which is the I/O thread.
    nonisolated(unsafe) let me = self
    owner.enter { $0.ended(me, outcome) }
  }
}
