// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryIO

extension ProcessWide {
  @Suite struct TerminalSettingsTests {
    @Test(arguments: [50, 9_600, 12_345, 115_200, 250_000, 4_000_000, 12_000_001] as [UInt32])
    func anyBaudRateIsSetBothWays(_ rate: UInt32) async throws {
      let terminal = try openPseudoTerminal()
      let transport = try await DescriptorTransport.open(.init(path: terminal.path, baudRate: rate))
      let speeds = try terminal.speeds()
      #expect(speeds.input == rate)
      #expect(speeds.output == rate)
      #expect(transport.timing == .serial(baudRate: rate))
      await transport.close()
    }

    /// What the kernel would take for something else, and what would make for wrong limits of time.
    @Test(
      arguments: [
        (0, 8, 1, "0 baud"), (9_600, 11, 1, "11 data bits"), (9_600, 4, 1, "4 data bits"), (9_600, 0, 1, "0 data bits"),
        (9_600, -1, 1, "-1 data bits"), (9_600, .max, 1, "data bits"), (9_600, 8, 3, "3 stop bits"),
        (9_600, 8, 0, "0 stop bits"), (9_600, 8, .min, "stop bits"),
      ] as [(UInt32, Int, Int, String)])
    func aTerminalIsNotOpenedWithWrongSettings(
      _ baudRate: UInt32, _ dataBits: Int, _ stopBits: Int, _ said: String
    ) async throws {
      let terminal = try openPseudoTerminal()
      let before = try terminal.termios2()
      var configuration = TerminalConfiguration(path: terminal.path, baudRate: baudRate, label: "the port")
      configuration.dataBits = dataBits
      configuration.stopBits = stopBits
      try await CallLog.record { log in
        let error = await #expect(throws: AccessoryError.self) { try await DescriptorTransport.open(configuration) }
        #expect(error?.kind == .misconfigured)
        #expect(error?.message.hasPrefix("the port can't be set to ") == true)
        #expect(error?.message.contains(said) == true)
        #expect(log.count(.open) == 0, "it is not even opened")
      }
      #expect(try terminal.termios2() == before)
    }

    @Test func theLineIsRawWhileItIsOpen() async throws {
      let terminal = try openPseudoTerminal()
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      var settings = termios()
      let descriptor = open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)  // root may
      defer { close(descriptor) }
      #expect(tcgetattr(descriptor, &settings) == 0)
      #expect(
        settings.c_iflag & tcflag_t(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON | IXOFF) == 0)
      #expect(settings.c_oflag & tcflag_t(OPOST) == 0)
      #expect(settings.c_lflag & tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN) == 0)
      #expect(settings.c_cflag & tcflag_t(CSIZE | PARENB | CSTOPB | CREAD | CLOCAL) == tcflag_t(CS8 | CREAD | CLOCAL))
      await transport.close()
    }

    @Test func everythingIsPutBackOnClose() async throws {
      let terminal = try openPseudoTerminal()
      // A line with settings that nobody would guess.
      let descriptor = FileDescriptor(rawValue: open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC))
      defer { try? descriptor.close() }
      var settings = termios()
      tcgetattr(descriptor.rawValue, &settings)
      settings.c_iflag |= tcflag_t(IXON | IXOFF | INLCR)
      settings.c_lflag ^= tcflag_t(ECHOE)
      cfsetspeed(&settings, speed_t(B4800))
      tcsetattr(descriptor.rawValue, TCSANOW, &settings)
      let before = try terminal.termios2()
      let transport = try await DescriptorTransport.open(.init(path: terminal.path, baudRate: 31_250))
      #expect(try terminal.termios2() != before)
      #expect(try terminal.isExclusive())
      await transport.close()
      #expect(try terminal.termios2() == before)
      #expect(try !terminal.isExclusive())
    }

    @Test func whatCameBeforeIsDropped() async throws {
      let terminal = try openPseudoTerminal(raw: true)
      try await terminal.write(pattern(100))
      let probe = FileDescriptor(rawValue: open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC))
      defer { try? probe.close() }
      try await eventually("the old bytes to be in the terminal") {
        var entry = pollfd(fd: probe.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
      }
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      let reader = InputReader(transport.input)
      try await terminal.write([42])
      #expect(try await reader.read(1) == [42])
      await transport.close()
    }

    @Test func settingsAreCopiedAndApplied() throws {
      let terminal = try openPseudoTerminal()
      let descriptor = try SystemCall.open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
      defer { SystemCall.close(descriptor) }
      let original = try LineSettings(of: descriptor)
      #expect(!original.isRaw)
      var wanted = original
      wanted.makeRaw()
      #expect(wanted.isRaw)
      #expect(wanted != original)
      wanted.baudRate = 76_543
      try wanted.apply(to: descriptor)
      let actual = try LineSettings(of: descriptor)
      #expect(actual.baudRate == 76_543)
      #expect(actual.isRaw)
      try original.apply(to: descriptor)
      #expect(try LineSettings(of: descriptor) == original)
    }

    @Test func whatIsNoTerminalHasNoSettings() throws {
      let descriptor = try SystemCall.open("/dev/null", O_RDWR)
      defer { SystemCall.close(descriptor) }
      #expect(throws: Errno.inappropriateIOCTLForDevice) { try LineSettings(of: descriptor) }
    }
  }
}
