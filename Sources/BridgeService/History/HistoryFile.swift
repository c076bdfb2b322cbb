// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

extension StateFile: HistoryFile {}

extension HistoryDisk {
  /// The files of a state folder.
  convenience init(in folder: String) {
    func files(_ name: String, _ part: HistoryPart) -> [StateFile] {
      (0..<part.fileCount).map { StateFile("\(name)-\($0)", in: folder) }
    }
    self.init(
      StateFile("history", in: folder), days: files("history-days", .days), months: files("history-months", .months))
  }
}
