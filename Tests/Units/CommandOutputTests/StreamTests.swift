// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryTesting
import CommandOutput
import SystemPackage
import Testing

/// Events as lines, colour, and the end of the output.
@Suite struct StreamTests {
  @Test func stylesAreWrittenOnlyWhereThereIsColour() {
    let style = Samples.coloured
    #expect(
      [
        style.bold("a"), style.dim("a"), style.red("a"), style.green("a"), style.yellow("a"),
        style.paint("a", "38;5;9"),
      ]
        == ["1", "2", "31", "32", "33", "38;5;9"].map { "\u{1B}[\($0)ma\u{1B}[0m" })
    for plain in [Samples.terminal, Samples.pipe] { #expect(plain.red("a") == "a") }
  }

  @Test func anEventsLineNamesTheDevice() {
    #expect(
      DeviceEventView.line(.connected, Samples.lamp, at: "14:03:59", Samples.pipe)
        == "14:03:59  connected     L1  Lamp  2341:0043  /dev/ttyACM0")
    #expect(
      DeviceEventView.line(.changed, Samples.bare, at: "14:03:59", Samples.pipe)
        == "14:03:59  changed       /dev/ttyS0  /dev/ttyS0")
    let hostile = Device(id: "\u{1B}", path: "/dev/\u{7}", source: .named, name: "two\nlines")
    #expect(
      DeviceEventView.line(.disconnected, hostile, at: "now", Samples.coloured)
        == "\u{1B}[2mnow\u{1B}[0m  \u{1B}[31mdisconnected\u{1B}[0m  \u{1B}[1m\\u{1b}\u{1B}[0m  two\\u{a}lines"
        + "  /dev/\\u{7}")
  }

  /// Told once, be the reader gone before or after.
  @Test(arguments: [false, true]) func aGoneReaderIsToldOnce(before: Bool) async throws {
    let (reader, writer) = try FileDescriptor.pipe()
    let count = Watched(0)
    if before { try reader.close() }
    let end = OutputEnd(of: writer) { count.update { $0 += 1 } }
    if !before {
      #expect(count.value == 0)
      try reader.close()
    }
    try await count.wait { $0 > 0 }
    withExtendedLifetime(end) {}
    #expect(count.value == 1)
    try writer.close()
  }
}
