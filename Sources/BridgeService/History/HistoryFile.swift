// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

extension StateFile: HistoryFile {}

extension LongHistory {
  /// The files of a state folder.
  convenience init(in folder: String) {
    func files(_ name: String, _ tier: LongTier) -> [StateFile] {
      (0..<tier.fileCount).map { StateFile("\(name)-\($0)", in: folder) }
    }
    self.init(days: files("history-days", .days), months: files("history-months", .months))
  }
}
