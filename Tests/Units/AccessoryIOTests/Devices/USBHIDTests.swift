// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryIO

extension ProcessWide {
  /// A human interface device that the kernel has no driver for: what is asked of usbfs, whose answers are made up.
  @Suite struct USBHIDTests {
    private func withFeatures(
      _ answer: @escaping @Sendable (USBRequest.Control) -> Result<[UInt8], Errno>,
      _ body: (USBHIDFeatures, Watched<[[UInt8]]>) throws -> Void
    ) throws {
      let file = try FileDescriptor.open("/dev/null", .readWrite)
      defer { try? file.close() }
      let asked = Watched<[[UInt8]]>([])
      SystemCall.Interception.answer(USBRequest.Control.self) { request, _ in
        asked.update {
          $0.append(
            [request.requestType, request.request, UInt8(request.value >> 8), UInt8(request.value & 0xFF)]
              + [request.interface] + request.data)
        }
        return answer(request)
      }
      defer { SystemCall.Interception.removeAnswers() }
      try body(USBHIDFeatures(file: file, interface: 2), asked)
    }

    @Test func reportsAreAskedForAndSetOnTheirInterface() throws {
      try withFeatures({ $0.requestType == 0xA1 ? .success([UInt8($0.value & 0xFF), 60]) : .success([]) }) {
        features, asked in
        #expect(try features.get(6, size: 2) == [6, 60])
        try features.set([6, 61])
        #expect(asked.value == [[0xA1, 1, 3, 6, 2, 0, 0], [0x21, 9, 3, 6, 2, 6, 61]])
      }
    }

    /// Where a device doesn't number its reports, none has a number on the wire.
    @Test func aReportWithoutANumberHasNoneOnTheWire() throws {
      try withFeatures({ _ in .success([60]) }) { features, asked in
        #expect(try features.get(0, size: 2) == [0, 60])
        try features.set([0, 61])
        #expect(asked.value == [[0xA1, 1, 3, 0, 2, 0], [0x21, 9, 3, 0, 2, 61]])
      }
    }

    @Test func theDescriptorIsAskedForWhole() throws {
      try withFeatures({ .success([UInt8](repeating: 1, count: $0.data.count)) }) { features, asked in
        let (whole, most) = (try features.descriptor(length: 4_703), try features.descriptor(length: 1 << 20))
        #expect(whole.count == 4_703 && most.count == 65_535)
        #expect(asked.value.first?.prefix(5) == [0x81, 6, 0x22, 0, 2])
      }
    }

    @Test func errorsAreThoseOfTheKernel() throws {
      try withFeatures({ _ in .failure(.brokenPipe) }) { features, _ in
        #expect(throws: Errno.brokenPipe) { try features.get(6, size: 2) }
      }
    }

    // MARK: - Which report descriptors there are

    @Test func theLengthsAreThoseOfTheHIDDescriptors() {
      let device: [UInt8] = [18, 1, 0, 2, 0, 0, 0, 64, 1, 2, 3, 4, 0, 1, 1, 2, 3, 1]
      let configuration: [UInt8] = [9, 2, 0, 0, 2, 1, 0, 0x80, 50]
      let bulk: [UInt8] = [9, 4, 0, 0, 0, 0xFF, 0, 0, 0]
      let hid: [UInt8] = [9, 4, 1, 0, 1, 3, 0, 0, 0, 9, 0x21, 0x11, 1, 0, 1, 0x22, 0x5F, 0x12, 7, 5, 0x81, 3, 8, 0, 4]
      let found = USBDescriptorReader.reportDescriptors(device + configuration + bulk + hid)
      #expect(found.map(\.interface) == [1] && found.map(\.length) == [4_703])
      // Cut anywhere, and with lengths of nothing.
      let whole = device + configuration + bulk + hid
      for count in 0..<whole.count {
        #expect(USBDescriptorReader.reportDescriptors(Array(whole.prefix(count))).count <= 1)
      }
      #expect(USBDescriptorReader.reportDescriptors([0, 0x21]).isEmpty)
      #expect(USBDescriptorReader.reportDescriptors([6, 0x21, 0x11, 1, 0, 1]).isEmpty)
    }

    @Test func whatHasNoReportsIsNotOpened() async throws {
      let error = await #expect(throws: AccessoryError.self) {
        try await HIDTransport.open(usb: "/dev/null", label: "the UPS")
      }
      #expect(error?.kind == .unsupported, "\(error?.message ?? "")")
      let missing = await #expect(throws: AccessoryError.self) {
        try await HIDTransport.open(usb: "/dev/bus/usb/999/999", label: "the UPS")
      }
      #expect(missing?.kind == .notFound)
    }
  }
}
