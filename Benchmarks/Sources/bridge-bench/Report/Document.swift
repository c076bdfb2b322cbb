// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The result for programs.
struct Document: Encodable {
  let schema = 2
  let quick: Bool
  let machine: Machine
  let rows: [Row]

  private enum CodingKeys: CodingKey {
    case schema, quick, machine, rows
  }

  func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let data = try encoder.encode(self) + [0x0A]
    guard let file = fopen(path, "we") else { throw Failure("writing \(path): \(String(cString: strerror(errno)))") }
    let written = data.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
    guard fclose(file) == 0, written == data.count else { throw Failure("\(path) could not be written") }
  }
}
