// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A folder of `.yaml` files that users write, with one profile or one protocol each.
package enum TextFolder {
  /// The most files that are read from one folder.
  package static let fileLimit = 256

  /// Passes the contents of each file in the folder at `path` to `take`, sorted by name, with at most `limit` + 1
  /// bytes. A missing folder counts as empty. Returns the files that can't be read, with the reasons; `what` names
  /// their kind in messages, such as "a profile". Blocks.
  package static func read(
    _ path: String, isStrict: Bool, limit: Int, what: String, _ take: (_ file: String, _ bytes: [UInt8]) -> Void
  ) -> [ProfileProblem] {
    var problems: [ProfileProblem] = []
    let note = { (file: String, message: String) in
      problems.append(ProfileProblem(file: file, line: nil, column: nil, message: message))
    }
    do throws(AccessoryError) {
      guard let folder = try TrustedFolder(path, isStrict: isStrict) else { return [] }
      let names = folder.names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }
      for name in names.prefix(fileLimit) {
        let file = path + "/" + name
        do throws(AccessoryError) {
          take(file, try folder.read(name, limit: limit + 1))
        } catch {
          note(file, error.message)
        }
      }
      if names.count > fileLimit {
        note(path, "there are \(names.count) files, of which the first \(fileLimit) are read")
      }
      for name in folder.names where name.hasSuffix(".yml") {
        note(path + "/" + name, "it is not read: the name of \(what)'s file ends in .yaml")
      }
    } catch {
      note(path, error.message)
    }
    return problems
  }
}
