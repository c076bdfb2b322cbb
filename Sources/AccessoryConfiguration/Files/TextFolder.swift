// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A folder of `.yaml` files that users write, with one profile or one protocol each.
package enum TextFolder {
  /// The most files that are read from one folder.
  package static let fileLimit = 256

  /// Passes the contents of each file in the folder at `path` to `take`, sorted by name, with at most `limit` + 1
  /// bytes. `take` returns the name of what it has read. A missing folder counts as empty. Returns the errors of `take`,
  /// the files that can't be read, and those whose name another one has, with the reasons; `what` names their kind in
  /// messages, such as "a profile". Blocks.
  package static func read(
    _ path: String, isStrict: Bool, limit: Int, what: String,
    _ take: (_ file: String, _ bytes: [UInt8]) throws(ProfileProblems) -> String
  ) -> [ProfileProblem] {
    var problems: [ProfileProblem] = []
    var places: [String: String] = [:]
    let note = { (file: String, message: String) in
      problems.append(ProfileProblem(file: file, message: message))
    }
    do throws(AccessoryError) {
      guard let folder = try TrustedFolder(path, isStrict: isStrict) else { return [] }
      let names = folder.names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }
      for name in names.prefix(fileLimit) {
        let file = path + "/" + name
        let bytes: [UInt8]
        do throws(AccessoryError) {
          bytes = try folder.read(name, limit: limit + 1)
        } catch {
          note(file, error.message)
          continue
        }
        do throws(ProfileProblems) {
          let its = try take(file, bytes)
          if let other = places.updateValue(file, forKey: its) {
            note(file, "\(other) also has \(what) with the name \(its), so this one is ignored")
          }
        } catch {
          problems += error.problems
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
