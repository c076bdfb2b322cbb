// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A user's remote control for a Bluno robot: the character that each key sends, the tasks in their order, and whether
/// messages end in a line feed.
///
/// It only maps keys and tasks to bytes: `BlunoRemoteFile` stores it, and `BlunoRobot` sends the bytes.
public struct BlunoRemote: Sendable, Hashable {
  /// The character that each key sends.
  public var keys = BlunoKeyMap()
  /// The tasks, in the order in which they are shown.
  public var tasks = BlunoTaskList()
  /// Whether a line feed is appended to every message, for robots that read lines.
  public var endsLines = false

  /// A remote control with the default keys and tasks.
  public init() {}

  /// The bytes of a message. Throws what `BlunoMessage.encoded` throws.
  public func bytes(of message: BlunoMessage) throws(BlunoError) -> [UInt8] {
    try message.encoded(keys: keys, endingLine: endsLines)
  }

  /// The bytes that are sent when a key is pressed.
  public func bytes(for key: BlunoKey) -> [UInt8] {
    // Can't fail: every key has a character.
    (try? bytes(of: .key(key))) ?? []
  }

  /// The bytes that start a task.
  public func bytes(for task: BlunoTask) -> [UInt8] {
    // Can't fail: a `BlunoTask` has a valid number.
    (try? bytes(of: .task(task.number))) ?? []
  }

  /// The task at a position of the list, counted from 1, as on a keyboard's row of digits; nil when there is none.
  public func task(at place: Int) -> BlunoTask? {
    tasks.tasks.indices.contains(place - 1) ? tasks.tasks[place - 1] : nil
  }

  /// The task with the number or the name (in upper or lower case) that the user typed; nil when there is none.
  public func task(_ text: String) -> BlunoTask? {
    if let number = Int(text) { return tasks.task(number) }
    return tasks.tasks.first { $0.name.lowercased() == text.lowercased() }
  }
}
