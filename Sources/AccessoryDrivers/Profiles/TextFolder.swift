// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A folder of `.yaml` files that people write, one profile or one protocol each.
enum TextFolder {
  /// Files that are read of one folder.
  static let fileLimit = 256

  /// Hands over the text of each file in the folder at `path`, in the order of their names, with up to one byte more than
  /// `limit`. A folder that isn't there has none. Returns why files, or the whole folder, can't be read; `what` is in
  /// them: "a profile". Blocks.
  static func read(
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
