// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The options of `simulate` with the name of a kind, which are values of the kind's family.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct KindOptionTests {
  @Test(arguments: [
    (["framed", "--percent", "101"], "--percent must be 0 to 100"),
    (["framed", "--percent", "x"], "The value 'x' is invalid for '--percent <percent>'"),
    (["framed", "--window", "0"], "--window must be 1 to 255"),
    (["framed", "--drop", "2"], "--drop must be a share from 0 to 1, for example 0.1"),
    (["framed", "--charge", "x"], "Please provide one of 'charging', 'discharging', 'full' or 'unknown'."),
    (["framed", "--stall", "1"], "--stall and --protocol-error need --usb"),
    (["framed", "--unplug-after", "0"], "expected a number of requests, or a time with its unit, like 5 or 200ms"),
    (["framed", "--tty"], "--tty, --hid, --ftdi, --vendor-id and --product-id need --usb"),
    (["ev3", "--link", "x", "--usb"], "--link, --tcp and --usb can't be used together"),
    (["ev3", "--drain", "101"], "--drain must be 0 to 100 percent per second"),
    (["hm10", "--uart", "nus"], "--uart needs --ble NAME"), (["hm10", "--address", "x"], "--address must be like"),
    (["bluno", "--every", "5ms"], "--every must be at least 10ms"),
    (["bluno", "--name", "12345678901234"], "--name must have 1 to 13 bytes"),
    // ArgumentParser has an option --version of its own.
    (["mavlink", "--version", "3"], "--version must be 1 or 2"),
    (["mavlink", "--version", "1", "--habit", "signed"], "only version 2 has signed frames"),
    (["mavlink", "--serial", "123456789"], "--serial must have 1 to 8 bytes: an autopilot reports no more"),
    (["ups", "--descriptor-limit=-1"], "--descriptor-limit must be at least 0"),
    (["ups", "--model", "x"], "Please provide one of 'cyberpower', 'cyberpower-501', 'apc', 'eaton' or 'plain'."),
    (["hm1x", "--naive", "extra"], "Unexpected argument 'extra'"), (["loopback", "--nonsense"], "--nonsense"),
  ]) func aValueThatIsNotAllowedIsAUsageError(words: [String], text: String) async throws {
    try await Sandbox.with { box in
      let run = try await box.run(["simulate"] + words)
      #expect(run.status == EX_USAGE && run.errorText.contains(text), "\(run.status): \(run.errorText)")
      #expect(run.outputText == "")
    }
  }

  /// The two values of an option that may be repeated, a flag, a time and a text arrive at the simulator.
  @Test func whatIsGivenIsSimulated() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate(
        kind: "mavlink", "--serial", "MAV0042", "--percent", "31", "--habit", "quiet", "--habit", "plain")
      let battery = try await box.run("battery", "MAV0042")
      #expect(battery.status == 0 && battery.outputText.hasPrefix("31 %"), "\(battery.outputText)\(battery.errorText)")
    }
  }
}
