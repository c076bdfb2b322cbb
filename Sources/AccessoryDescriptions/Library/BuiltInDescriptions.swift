// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CDescriptions
import Glibc

/// The protocols that are built into this package: the files in Sources/CDescriptions/Descriptions.
enum BuiltInDescriptions {
  /// The names of the protocols, which are the names of their files.
  static let names = embedded.map { String(cString: $0.name) }

  /// The description with this name, in the same format as users' descriptions; nil when there is none.
  static func text(_ name: String) -> [UInt8]? {
    guard let place = names.firstIndex(of: name) else { return nil }
    return Array(UnsafeRawBufferPointer(start: embedded[place].text, count: strlen(embedded[place].text)))
  }

  /// Each description is parsed once. Their number is fixed.
  private static let parsed = Locked<[String: DescribedProtocol]>([:])

  /// The protocol with this name, parsed when it is first asked for; nil when there is none.
  static func described(_ name: String) -> DescribedProtocol? {
    if let described = parsed.withLock({ $0[name] }) { return described }
    // A test checks that every built-in description is valid.
    let described = text(name).flatMap { try? DescriptionReader.read($0, file: "built in", takenNames: []) }
    if let described { parsed.withLock { $0[name] = described } }
    return described
  }

  // The pointers are to constants of the program.
  nonisolated(unsafe) private static let embedded: [embedded_description] = Array(
    sequence(state: 0) { index in
      defer { index += 1 }
      return embedded_description_at(index)?.pointee
    })
}
