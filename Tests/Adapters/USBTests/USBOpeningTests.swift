// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CFakeUSB
import Glibc
import TestSupport
import Testing

extension USB {
  /// Finding and claiming the endpoints, and what stands against it.
  @Suite struct OpeningTests {
    private static let pair = [
      Descriptors.endpoint(Descriptors.bulkIn), Descriptors.endpoint(Descriptors.bulkOut),
    ]

    private func open(
      _ interfaces: [[UInt8]], _ change: (inout USBTransportConfiguration) -> Void = { _ in }
    ) async throws -> (interface: UInt8, input: UInt8, output: UInt8) {
      let fake = FakeUSBDevice(Descriptors.device() + Descriptors.configuration(interfaces))
      let transport = try await fake.open(change)
      let found = transport.endpoints
      await transport.close()
      #expect(!fake.isOpen)
      return (found.interface, found.input.address, found.output.address)
    }

    @Test func theFirstVendorSpecificInterfaceWithBothDirectionsIsTaken() async throws {
      let found = try await open([
        Descriptors.interface(0, code: 8, Self.pair), Descriptors.interface(1, [Descriptors.endpoint(0x83)]),
        Descriptors.interface(
          2, [Descriptors.endpoint(0x84, 1), Descriptors.endpoint(0x85, 3), Descriptors.endpoint(0x06)]),
      ])
      #expect(found == (2, 0x85, 0x06))
    }

    @Test func aChosenInterfaceAndEndpointsAreUsed() async throws {
      let interface = Descriptors.interface(
        0, code: 3, Self.pair + [Descriptors.endpoint(0x83, 3), Descriptors.endpoint(0x04, 3)])
      let first = try await open([interface]) { $0.interface = 0 }
      #expect(first == (0, 0x81, 0x02))
      let named = try await open([interface]) {
        $0.inEndpoint = 0x83
        $0.outEndpoint = 0x04
      }
      #expect(named == (0, 0x83, 0x04))
    }

    @Test func anAlternateSettingIsSet() async throws {
      let fake = FakeUSBDevice(
        Descriptors.device()
          + Descriptors.configuration(
            [Descriptors.interface(0), Descriptors.interface(0, alternate: 2, Self.pair)], count: 1))
      let transport = try await fake.open()
      #expect(fake_usb_alternate(fake.device, 0) == 2)
      await transport.close()
    }

    @Test func whatDoesNotFitSaysWhatThereIs() async throws {
      let human = Descriptors.interface(1, code: 3, Self.pair)
      let none = await failure { try await open([human]) }
      #expect(none?.kind == .misconfigured)
      #expect(none?.message.contains("OUT endpoint: 1 (HID)") == true, "\(none?.message ?? "")")
      let missing = await failure { try await open([human]) { $0.interface = 9 } }
      #expect(missing?.message.contains("has no interface 9") == true)
      let bare = await failure { try await open([Descriptors.interface(0)]) }
      #expect(bare?.kind == .unsupported)
    }

    @Test func theKernelsDriverLetsGoAndGetsItsInterfaceBack() async throws {
      let fake = FakeUSBDevice()
      fake_usb_bind(fake.device, 0, "usbhid")
      let transport = try await fake.open()
      #expect(fake.isClaimed && fake_usb_is_bound(fake.device, 0) == 0)
      await transport.close()
      #expect(fake_usb_is_bound(fake.device, 0) != 0)
    }

    @Test func anInterfaceThatSomebodyHasIsBusy() async throws {
      let before = try await descriptorsAtRest()
      let fake = FakeUSBDevice()
      fake_usb_take(fake.device, 0, 1)
      let error = await failure { try await fake.open() }
      #expect(!fake.isOpen)
      #expect(error?.kind == .busy)
      #expect(error?.message.contains("the fake") == true)
      try await waitForClose(of: fake, atRest: before)
    }

    @Test(arguments: [EIO, ENOENT, ENOMEM, ENODEV]) func aFailedClaimLeavesNothing(_ status: CInt) async throws {
      let before = try await descriptorsAtRest()
      let fake = FakeUSBDevice()
      fake_usb_fail_claim(fake.device, -status)
      let error = await failure { try await fake.open() }
      #expect(error != nil && !fake.isOpen)
      if status == ENODEV { #expect(error?.kind == .disconnected) }
      try await waitForClose(of: fake, atRest: before)
    }

    @Test func aNodeThatCannotBeOpenedSaysWhy() async throws {
      let missing = await failure {
        try await USBTransport.open(USBTransportConfiguration(path: "/dev/bus/usb/999/999"))
      }
      #expect(missing?.kind == .notFound)
      let file = await failure { try await USBTransport.open(USBTransportConfiguration(path: "/dev/null")) }
      #expect(file?.kind == .unsupported)
    }

    @Test func aCancelledOpeningGivesTheDeviceBack() async throws {
      let fake = FakeUSBDevice()
      let opener = fake.opener
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await failure { try await USBTransport.open(fake.configuration, node: opener) }
      }
      #expect(await task.value?.kind == .cancelled)
      #expect(!fake.isOpen)
    }

    @Test func closingAUSBDeviceTwiceIsHarmless() async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      transport.beginClose()
      async let first: Void = transport.close()
      async let second: Void = transport.close()
      _ = await (first, second)
      await transport.close()
      #expect(!fake.isOpen && !fake.isClaimed)
    }
  }
}
