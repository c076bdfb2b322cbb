// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A remote control for a Bluno robot as its user has set it up: what its keys send, which tasks it has and in which
/// order, and whether messages end in a line feed.
///
/// It says which bytes a key or a task is, and nothing else: `BlunoRemoteFile` keeps it, and an accessory sends them.
public struct BlunoRemote: Sendable, Hashable {
  /// Which character each key sends.
  public var keys = BlunoKeyMap()
  /// The tasks, in the order in which they are shown.
  public var tasks = BlunoTaskList()
  /// Whether a line feed is put behind every message, for robots that read lines.
  public var endsLines = false

  /// A remote control as it comes.
  public init() {}

  /// The bytes of a message. Throws what `BlunoMessage.encoded` throws.
  public func bytes(of message: BlunoMessage) throws(BlunoError) -> [UInt8] {
    try message.encoded(keys: keys, endingLine: endsLines)
  }

  /// The bytes that are sent when a key is pressed.
  public func bytes(for key: BlunoKey) -> [UInt8] {
    // A key always has a character.
    (try? bytes(of: .key(key))) ?? []
  }

  /// The bytes that begin a task.
  public func bytes(for task: BlunoTask) -> [UInt8] {
    // A task's number is always one that can be sent.
    (try? bytes(of: .task(task.number))) ?? []
  }

  /// The task at a place of the list, counted from 1, as on a keyboard's row of digits; nil when there is none.
  public func task(at place: Int) -> BlunoTask? {
    tasks.tasks.indices.contains(place - 1) ? tasks.tasks[place - 1] : nil
  }

  /// The task that a person means by its number, or by its name in whatever case; nil when there is none.
  public func task(_ text: String) -> BlunoTask? {
    if let number = Int(text) { return tasks.task(number) }
    return tasks.tasks.first { $0.name.lowercased() == text.lowercased() }
  }
}
