// SPDX-License-Identifier: Apache-2.0
//
// A row is a line.
// swift-format-ignore-file

import AccessoryIO

/// The keys of a serial line's settings, which profiles and descriptions have.
package enum TerminalKeys {
  package static let tty = KeyTable("tty", "tty", place: "transport: tty", [
    .init("baud", .whole(1...100_000_000), "bits a second", usual: "`115200`"),
    .init("data_bits", .whole(5...8), "data bits of a character", usual: "`8`"),
    .init("parity", .choice(TerminalConfiguration.Parity.self), "parity bit", usual: "`none`"),
    .init("stop_bits", .whole(1...2), "stop bits of a character", usual: "`1`"),
    .init("flow", .choice(TerminalConfiguration.FlowControl.self), "flow control: `hardware` by RTS and CTS; with `software` the bytes 11 and 13 are XON and XOFF and no data: not for `framed`", usual: "`none`"),
    .init("dtr", .choice(TerminalConfiguration.ModemLineSetting.self), "DTR after opening; with `keep` it also stays when closing", usual: "`keep`"),
    .init("rts", .choice(TerminalConfiguration.ModemLineSetting.self), "RTS after opening; not with `flow: hardware`", usual: "`keep`"),
    .init("rs485", .other(""), "how RTS directs an RS-485 adapter"),
    .init("low_latency", .flag, "makes the kernel's driver deliver bytes at once, if it supports that", usual: "`true`"),
    .init("settle", .milliseconds(0...60_000), "time after opening until the first byte, for boards that reset then", usual: "`0s`"),
  ])
  package static let rs485 = KeyTable("rs485", "rs485", place: "transport: tty: rs485", [
    .init("rts", .words(["high", "low"]), "level of RTS while sending", usual: "`high`"),
    .init("rts_after", .words(["high", "low"]), "level of RTS at other times", usual: "the other one"),
    .init("before", .milliseconds(0...10_000), "time from RTS to the first bit, in whole milliseconds", usual: "`0ms`"),
    .init("after", .milliseconds(0...10_000), "time from the last bit to RTS, in whole milliseconds", usual: "`0ms`"),
    .init("receive", .flag, "whether the sent bytes are received, too"),
  ])
}
