// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import CFakeUSB
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import SystemPackage
import TestSupport

/// Suites share libusb's one context and the redirection of its calls.
let isRedirected: Bool = {
  let found = fake_usb_install()
  precondition(found == 4, "libusb's calls were not found (\(found) of 4): is it linked statically?")
  return true
}()

/// The process's descriptors when no device is open, with those that libusb and the I/O thread keep.
func descriptorsAtRest() async throws -> Set<CInt> {
  let transport = try await FakeUSBDevice().open()
  await transport.close()
  return ThisProcess.descriptors
}

/// Waits until nothing of `fake` is open any more.
func waitForClose(of fake: FakeUSBDevice, atRest: Set<CInt>) async throws {
  fake.unplug(FAKE_USB_GONE_SILENTLY)  // its own end of the node goes too
  try await ThisProcess.waitForNoDescriptors(except: atRest)
}

/// The descriptors of pretended devices.
enum Descriptors {
  static let bulkIn: UInt8 = 0x81
  static let bulkOut: UInt8 = 0x02

  static func device(configurations: UInt8 = 1) -> [UInt8] {
    [18, 1, 0x00, 2, 0, 0, 0, 64, 0x09, 0x12, 0x01, 0x00, 0, 1, 1, 2, 3, configurations]
  }

  static func configuration(_ interfaces: [[UInt8]], count: UInt8? = nil) -> [UInt8] {
    let body = interfaces.flatMap { $0 }
    let total = 9 + body.count
    return [9, 2, UInt8(total & 255), UInt8(total >> 8), count ?? UInt8(interfaces.count), 1, 0, 0x80, 50] + body
  }

  static func interface(
    _ number: UInt8, alternate: UInt8 = 0, code: UInt8 = 0xFF, subclass: UInt8 = 0, _ endpoints: [[UInt8]] = []
  ) -> [UInt8] {
    [9, 4, number, alternate, UInt8(endpoints.count), code, subclass, 0, 0] + endpoints.flatMap { $0 }
  }

  static func endpoint(_ address: UInt8, _ kind: UInt8 = 2, size: UInt16 = 512) -> [UInt8] {
    [7, 5, address, kind, UInt8(size & 255), UInt8(size >> 8), 1]
  }

  /// A vendor-specific interface with a bulk pair.
  static let bulk = device() + configuration([interface(0, [endpoint(bulkIn), endpoint(bulkOut)])])
  /// A HID interface with reports of 1024 bytes in both directions.
  static let reports =
    device()
    + configuration([interface(0, code: 3, [endpoint(bulkIn, 3, size: 1_024), endpoint(bulkOut, 3, size: 1_024)])])
}

/// A device that libusb takes for real.
final class FakeUSBDevice: @unchecked Sendable {
  // Sendable: the C side locks all it does; the two values below are set before the device is opened.
  let device: OpaquePointer
  let descriptors: [UInt8]
  /// Counts the transfers that went to an endpoint without echo.
  let outputs = Watched(0)
  private let isFreed = Locked(false)

  init(_ descriptors: [UInt8] = Descriptors.bulk, echo: Bool = true) {
    _ = isRedirected
    self.descriptors = descriptors
    device = fake_usb_plug(descriptors, descriptors.count)!
    if echo { fake_usb_echo(device, Descriptors.bulkOut, Descriptors.bulkIn) }
    fake_usb_on_output(
      device, { Unmanaged<FakeUSBDevice>.fromOpaque($0!).takeUnretainedValue().outputs.update { $0 += 1 } },
      Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    fake_usb_on_output(device, nil, nil)
    fake_usb_free(device)
  }

  var configuration: USBTransportConfiguration {
    USBTransportConfiguration(path: "/dev/bus/usb/001/005", label: "the fake")
  }

  /// Opens the device instead of a node.
  var opener: USBNode.Opener {
    { [self] _ throws(AccessoryError) in
      let descriptor = fake_usb_open(device)
      guard descriptor >= 0 else { throw AccessoryError(device: Errno(rawValue: errno), "opening the fake") }
      return USBNode(descriptor: FileDescriptor(rawValue: descriptor), descriptors: descriptors)
    }
  }

  func open(_ change: (inout USBTransportConfiguration) -> Void = { _ in }) async throws -> USBTransport {
    var configuration = configuration
    change(&configuration)
    return try await USBTransport.open(configuration, node: opener)
  }

  func feed(_ bytes: [UInt8]) { fake_usb_feed(device, Descriptors.bulkIn, bytes, bytes.count) }

  /// The next transfer that was written.
  func nextOutput() -> (bytes: [UInt8], endsWithZeroPacket: Bool)? {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    var flags: CUnsignedInt = 0
    let count = fake_usb_next_output(device, Descriptors.bulkOut, &bytes, bytes.count, &flags)
    guard count >= 0 else { return nil }
    return (Array(bytes.prefix(count)), flags & 0x40 != 0)  // USBDEVFS_URB_ZERO_PACKET
  }

  func unplug(_ how: fake_usb_gone = FAKE_USB_GONE_AT_ONCE) { fake_usb_unplug(device, how) }

  var pendingInputs: Int { Int(fake_usb_pending(device, Descriptors.bulkIn)) }
  var isOpen: Bool { fake_usb_is_open(device) != 0 }
  var isClaimed: Bool { fake_usb_is_claimed(device, 0) != 0 }
}

/// An AF1 accessory behind a pair of fake endpoints.
final class FakeAF1Accessory: Sendable {
  let usb: FakeUSBDevice
  private let device: Locked<AF1Device>
  private let codec = Locked(AF1Codec(maximumPayload: 4_096))
  private let serving = Locked<Task<Void, any Error>?>(nil)

  init(_ descriptors: [UInt8] = Descriptors.bulk, change: (inout AF1Device.Configuration) -> Void = { _ in }) {
    usb = FakeUSBDevice(descriptors, echo: false)
    var configuration = AF1Device.Configuration()
    change(&configuration)
    device = Locked(AF1Device(configuration, bootID: 7))
    serving.withLock {
      $0 = Task { [usb, weak self] in
        var seen = 0
        while true {
          seen = try await usb.outputs.wait { [seen] in $0 > seen }
          while let (bytes, _) = usb.nextOutput() { self?.take(bytes) }
        }
      }
    }
  }

  deinit { serving.withLock { $0?.cancel() } }

  private func take(_ bytes: [UInt8]) {
    var batch = FrameBatch<AF1Header>()
    codec.withLock { $0.decode(bytes.span.bytes, into: &batch) }
    for index in 0..<batch.count {
      let answer = device.withLock {
        $0.answer(batch.header(at: index), batch.outcome(at: index), payload: batch.payloadBytes(at: index), now: .now)
      }
      guard let answer else { continue }
      var frame: [UInt8] = []
      try? AF1Codec(maximumPayload: 65_535).encode(answer.header, payload: answer.payload.span.bytes, into: &frame)
      // As a device does: packets of the endpoint's size at most, in one transfer each.
      for start in stride(from: 0, to: frame.count, by: 1_024) {
        usb.feed(Array(frame[start..<min(start + 1_024, frame.count)]))
      }
    }
  }
}

/// What opening came to.
func failure(_ body: () async throws -> some Any) async -> AccessoryError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? AccessoryError
  }
}

/// Bytes in which a loss, a repetition or a change of order shows.
func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
  (start..<start + count).map { UInt8(truncatingIfNeeded: $0 % 251) }
}
