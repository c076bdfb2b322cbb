// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Glibc
import Testing

/// What a command says of errors, and ends with.
@Suite struct ErrorTests {
  /// Every kind, its name in documents, and the number of sysexits.h.
  private static let kinds: [(AccessoryError.Kind, String, CInt)] = [
    (.disconnected, "disconnected", 69), (.busy, "busy", 69), (.permissionDenied, "permission_denied", 77),
    (.notFound, "not_found", 66), (.timedOut, "timed_out", 75), (.cancelled, "cancelled", 69),
    (.refused, "refused", 76), (.badData, "bad_data", 65), (.unsupported, "unsupported", 69),
    (.misconfigured, "misconfigured", 78), (.ioFailure, "io_failure", 74),
  ]

  @Test func everyKindOfErrorIsTested() { #expect(Set(Self.kinds.map(\.0)) == Set(AccessoryError.Kind.allCases)) }

  @Test(arguments: kinds) func everyKindOfErrorHasItsExitStatus(kind: AccessoryError.Kind, name: String, status: CInt) {
    #expect(ExitStatus.of(kind) == status)
    let report = ErrorReport(AccessoryError(kind, "the port is gone"))
    #expect(report.exitStatus == status)
    #expect(
      DocumentText.line(ErrorDocument(report))
        == joined(
          #"{"document":"error","error":{"errno":null,"exit_status":\#(status),"kind":"\#(name)","libusb":null,"#,
          #""message":"the port is gone","refusal":null},"schema":"accessory-bridge/2"}"#))
  }

  @Test func aUsageErrorHasExitStatus64() {
    let report = ErrorReport(UsageError("say more"))
    #expect(report.exitStatus == 64)
    #expect(report.line(of: "bridge-cli", Samples.pipe) == "bridge-cli: say more")
    #expect(
      DocumentText.line(ErrorDocument(report))
        == joined(
          #"{"document":"error","error":{"errno":null,"exit_status":64,"kind":"usage","libusb":null,"message":"say more","refusal":null},"#,
          #""schema":"accessory-bridge/2"}"#))
  }

  @Test(
    arguments: [
      (.errno(13), "13", "null", "null"), (.refusal(3), "null", "null", "3"), (.libusb(-4), "null", "-4", "null"),
    ] as [(AccessoryError.Code, String, String, String)])
  func anErrorsCodeIsInItsDocument(code: AccessoryError.Code, errno: String, libusb: String, refusal: String) {
    let report = ErrorReport(AccessoryError(.refused, code: code, "no"))
    #expect(
      DocumentText.line(ErrorDocument(report))
        == joined(
          #"{"document":"error","error":{"errno":\#(errno),"exit_status":76,"kind":"refused","libusb":\#(libusb),"message":"no","#,
          #""refusal":\#(refusal)},"#,
          #""schema":"accessory-bridge/2"}"#))
  }

  /// The program's name is red where there is colour; the message is harmless on a terminal and of a bounded length.
  @Test func anErrorsLineIsHarmlessAndBounded() {
    let report = ErrorReport(AccessoryError(.busy, "cat\u{1B}[2J has it"))
    #expect(report.line(of: "bridge-cli", Samples.pipe) == #"bridge-cli: cat\u{1b}[2J has it"#)
    #expect(report.line(of: "other", Samples.coloured) == "\u{1B}[31mother:\u{1B}[0m cat\\u{1b}[2J has it")
    let long = ErrorReport(AccessoryError(.busy, String(repeating: "x", count: 1_001)))
    #expect(long.line(of: "a", Samples.pipe) == "a: " + String(repeating: "x", count: 1_000) + "…")
  }

  @Test func aSignalsExitStatusIs128MoreThanItsNumber() { #expect(ExitStatus.of(signal: SIGINT) == 130) }
}
