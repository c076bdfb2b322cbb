// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Testing

/// What `print` shows of a line.
@Suite struct LineStatusTests {
  @Test func aLinesStatusIsDescribedInWords() {
    #expect("\(LineStatus(baudRate: 115_200))" == "115200 baud, 8N1")
    var status = LineStatus(
      baudRate: 9_600, dataBits: 7, parity: .even, stopBits: 2, flowControl: .hardware, modemLines: [.rts, .cts])
    status.rs485 = .init()
    #expect("\(status)" == "9600 baud, 7E2, hardware flow control, RS-485, RTS CTS")
    #expect("\(ModemLines())" == "none")
  }
}
