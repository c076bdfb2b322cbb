// SPDX-License-Identifier: Apache-2.0

/// An event of a simulator, for people and for programs.
package struct SimulatorNews: Sendable {
  /// The event's name in JSON.
  package let event: String
  /// The line for people. Text of the accessory in it is escaped.
  package let line: String
  /// In JSON: the text of the event, unescaped.
  package var text: String?
  /// In JSON: the bytes of the event.
  package var bytes: [UInt8]?
  /// In JSON: the number of the event.
  package var number: Int?
  /// In JSON: the unit on the line.
  package var unit: Int?
  /// In JSON: a file that the host has sent.
  package var file: File?
  /// The path where the accessory was plugged in. Whoever shows it knows what is said with it.
  package private(set) var path: String?
  /// The settings of the serial line that the host has made. Whoever shows them knows how.
  package private(set) var state: HostLineSettings?

  /// A file that the host has sent.
  package struct File: Sendable {
    /// Its name, unescaped.
    package let name: String
    /// How much of it has arrived, in bytes.
    package let size: Int?
    package let checksum: UInt32?

    package init(_ name: String, size: Int? = nil, checksum: UInt32? = nil) {
      (self.name, self.size, self.checksum) = (name, size, checksum)
    }
  }

  /// An event of this name.
  package init(
    _ event: String, _ line: String, text: String? = nil, bytes: [UInt8]? = nil, number: Int? = nil, unit: Int? = nil,
    file: File? = nil
  ) {
    (self.event, self.line, self.text, self.bytes) = (event, line, text, bytes)
    (self.number, self.unit, self.file) = (number, unit, file)
  }

  /// The accessory was plugged in at this path.
  package static func pluggedIn(_ path: String) -> SimulatorNews {
    var news = SimulatorNews("plugged_in", "")
    news.path = path
    return news
  }

  /// The accessory was unplugged.
  package static var unplugged: SimulatorNews { SimulatorNews("unplugged", "unplugged") }

  /// The host has changed the settings of a USB device's line.
  package static func line(_ state: HostLineSettings) -> SimulatorNews {
    var news = SimulatorNews("line", "")
    news.state = state
    return news
  }
}
