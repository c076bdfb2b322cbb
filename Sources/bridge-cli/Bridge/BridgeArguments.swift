// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput

/// A number of bytes on the command line: "65536", "64K", "1M".
struct SizeArgument: FormArgument {
  static let form = "a number of bytes, like 65536, 64K or 1M,"
  let bytes: Int

  init(bytes: Int) { self.bytes = bytes }

  init?(argument: String) {
    let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20]
    let factor = argument.last.flatMap { units[$0] }
    let digits = factor == nil ? argument[...] : argument.dropLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits) else {
      return nil
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: factor ?? 1)
    guard !overflow else { return nil }
    self.bytes = bytes
  }
}
