// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// Files of this package, or parts of them, that are made from what Swift says: schemas, the tables of pages, the interface.
/// `ACCESSORY_BRIDGE_GOLDENS=renew` writes them anew (`make wire`), otherwise they are compared.
package enum MadeFile {
  package static let isRenewing = getenv("ACCESSORY_BRIDGE_GOLDENS").map { String(cString: $0) } == "renew"

  /// The file of this name, from the root of the package on.
  package static func text(_ name: String) throws -> String {
    String(decoding: try SmallFile.read("\(ProjectFolder.path)/\(name)", limit: 1 << 20), as: UTF8.self)
  }

  /// Why the file is wrong; nil where it says this, and where it has been written.
  package static func problem(_ name: String, _ text: String) throws -> String? {
    if isRenewing { try Page.write(text, to: name) }
    let old = try Self.text(name)
    if old == text { return nil }
    let lines = zip(old.split(separator: "\n"), text.split(separator: "\n"))
    let wanted = lines.first { $0 != $1 }?.1 ?? "other lines at its end"
    return "\(name) isn't what Swift says: make wire writes it anew. It should have: \(wanted)"
  }

  /// The page with the tables between `<!-- KIND: NAME -->` and `<!-- KIND: end -->` made anew. A table has the old lines to look at.
  package static func page(
    _ page: String, _ kind: String, _ table: (_ name: Substring, _ old: [Substring]) throws -> [String]
  ) rethrows -> String {
    var text = ""
    var rest = page[...]
    while let start = rest.firstRange(of: "<!-- \(kind): ") {
      let line = rest[start.lowerBound...].prefix { $0 != "\n" }
      guard let end = rest[line.endIndex...].firstRange(of: "<!-- \(kind): end -->") else { break }
      let name = line[start.upperBound...].dropLast(4)
      let lines = try table(name, rest[line.endIndex..<end.lowerBound].split(separator: "\n"))
      text += rest[..<line.endIndex] + "\n\n" + lines.map { $0 + "\n" }.joined() + "\n" + rest[end]
      rest = rest[end.upperBound...]
    }
    return text + rest
  }
}
