// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CFakeUSB
import Glibc
import TestSupport
import Testing

/// Resets on the bus, of a device in a faked usbfs.
@Suite struct USBResetTests {
  private func reset(_ fake: FakeUSBDevice) async throws(AccessoryError) {
    try await USBReset.reset(fake.configuration, node: fake.opener)
  }

  @Test func aDeviceIsResetOnceAndLeftAlone() async throws {
    let atRest = try await descriptorsAtRest()
    let fake = FakeUSBDevice()
    try await reset(fake)
    #expect(fake_usb_resets(fake.device) == 1)
    #expect(!fake.isClaimed)
    try await waitForClose(of: fake, atRest: atRest)
  }

  /// The kernel says ENODEV where it comes back with other descriptors, under another number.
  @Test func aDeviceThatComesBackAsAnotherWasReset() async throws {
    let fake = FakeUSBDevice()
    fake_usb_fail_reset(fake.device, ENODEV)
    try await reset(fake)
    #expect(fake_usb_resets(fake.device) == 1)
    fake.unplug()
  }

  @Test(arguments: [EIO, EPERM])
  func aResetThatFailsIsAnError(_ status: CInt) async throws {
    let atRest = try await descriptorsAtRest()
    let fake = FakeUSBDevice()
    fake_usb_fail_reset(fake.device, status)
    let error = await #expect(throws: AccessoryError.self) { try await reset(fake) }
    #expect(error?.message.contains("resetting the fake on its bus") == true, "\(error?.message ?? "")")
    try await waitForClose(of: fake, atRest: atRest)
  }

  @Test func aDeviceThatIsGoneIsNotReset() async throws {
    let fake = FakeUSBDevice()
    fake.unplug(FAKE_USB_GONE_SILENTLY)
    await #expect(throws: AccessoryError.self) { try await reset(fake) }
    #expect(fake_usb_resets(fake.device) == 0)
    let missing = await #expect(throws: AccessoryError.self) { try await USBReset.reset("/dev/bus/usb/999/999") }
    #expect(missing?.kind == .notFound)
  }
}
