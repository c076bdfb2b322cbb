// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryFamilies
import AccessoryProtocols

/// AF1 as a file describes it: the protocol that has a hand-written codec and driver to compare with.
enum DescribedAF1 {
  /// Requests and replies of 16 bytes, and frames of up to 1,000 bytes.
  static func description() throws -> ProtocolDescription {
    try DescriptionReader.read(Array(text.utf8), file: "af1").description
  }

  private static let text = """
    protocol: described-af1
    version: 1
    byte_order: little
    framings:
      frame:
        max: 1038
        layout:
          - start: 0F F0
          - flags: u8
          - command: u8
          - number: u16
          - length: {type: u16, of: data}
          - check: {algorithm: crc-16/ibm-3740, over: start..length}
          - data
          - check: {algorithm: crc-32/iso-hdlc, over: data, unless_empty: true}
    messages:
      echo:
        when: {flags: 0x12, command: 0x7E}
        fields:
          - {name: bytes, type: hex, bytes: 16}
    requests:
      echo:
        summary: The same bytes
        send: frame
        with: {flags: 0x11, command: 0x7E, number: 1}
        data: 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F
        reply: echo
        same: [number, command]
    """
}
