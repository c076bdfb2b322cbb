// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryIO

/// The list of connections as the kernel of a little-endian machine writes it.
@Suite struct LocalConnectionTests {
  private static let list = """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 0100007F:1B58 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 8001 1 0000000000000000 100
       1: 0100007F:1B58 0100007F:A001 08 00000000:00000000 00:00000000 00000000     0        0 8002 1 0000000000000000 20
       2: 0100007F:A001 0100007F:1B58 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0000000000000000 20
       3: 0100007F:A002 0100007F:1B58 05 00000000:00000000 00:00000000 00000000     0        0 8003 1 0000000000000000 20
       4: 0000000000000000FFFF00000100007F:A003 0000000000000000FFFF00000100007F:1B58 05 00000000:00000000 00:0 0     0        0 8004 1
    """

  @Test(arguments: [(0xA001, false), (0xA002, true), (0xA003, true), (0xA004, false)])
  func anOpenConnectionIsFoundInTheList(port: UInt16, isOpen: Bool) throws {
    let address = try #require(IPAddress("127.0.0.1"))
    let (from, to) = (LocalConnections.key(address, port), LocalConnections.key(address, 7_000))
    #expect(LocalConnections.isOpen(Self.list, from, to) == isOpen)
  }

  @Test func anIPv6AddressIsWrittenAsTheKernelDoes() throws {
    let address = try #require(IPAddress("fe80::1"))
    #expect(LocalConnections.key(address, 80) == "000080FE000000000000000001000000:0050")
  }
}
