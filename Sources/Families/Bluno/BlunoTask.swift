// SPDX-License-Identifier: Apache-2.0

/// A task of a robot, which is started by its number.
public struct BlunoTask: Sendable, Hashable {
  /// The number, 0…9999, which is sent in decimal digits. If it has two or more digits, only a robot that reads lines
  /// can tell where it ends.
  public let number: Int
  /// The name of the task.
  public var name: String

  /// A task.
  ///
  /// - Throws: `BlunoError.outOfRange` if the number isn't within `range`.
  public init(number: Int, name: String) throws(BlunoError) {
    guard Self.range.contains(number) else { throw .outOfRange(argument: "task", value: number, range: Self.range) }
    self.init(uncheckedNumber: number, name: name)
  }

  private init(uncheckedNumber number: Int, name: String) {
    self.number = number
    self.name = name
  }

  /// The allowed numbers.
  public static let range = 0...9_999

  /// The default tasks of the remote control.
  public static let defaults: [BlunoTask] = ["Status", "Remote", "Patrol", "Follow IR", "Avoid IR"].enumerated().map {
    BlunoTask(uncheckedNumber: $0.offset, name: $0.element)
  }
}

/// The tasks of a remote control, in the order in which they are shown.
public struct BlunoTaskList: Sendable, Hashable {
  /// The tasks; each number occurs once.
  public private(set) var tasks: [BlunoTask]

  /// A list with the default tasks.
  public init() { tasks = BlunoTask.defaults }

  /// A list of these tasks.
  ///
  /// - Throws: `BlunoError.numberInUse` if two tasks have the same number.
  public init(_ tasks: [BlunoTask]) throws(BlunoError) {
    self.tasks = []
    for task in tasks { try append(task) }
  }

  /// The task with this number; `nil` if there is none.
  public func task(_ number: Int) -> BlunoTask? { tasks.first { $0.number == number } }

  /// Appends a task.
  ///
  /// - Throws: `BlunoError.numberInUse` if the list has a task with the same number.
  public mutating func append(_ task: BlunoTask) throws(BlunoError) {
    if self.task(task.number) != nil { throw .numberInUse(task.number) }
    tasks.append(task)
  }

  /// Appends a task with the lowest free number, and returns it.
  ///
  /// - Throws: `BlunoError.outOfRange` if no number is free.
  @discardableResult
  public mutating func append(named name: String) throws(BlunoError) -> BlunoTask {
    let used = Set(tasks.map(\.number))
    let number = BlunoTask.range.first { !used.contains($0) } ?? BlunoTask.range.upperBound + 1
    let task = try BlunoTask(number: number, name: name)
    tasks.append(task)
    return task
  }

  /// Gives the task with this number another name; `false` if there is none.
  @discardableResult
  public mutating func rename(_ number: Int, to name: String) -> Bool {
    guard let place = tasks.firstIndex(where: { $0.number == number }) else { return false }
    tasks[place].name = name
    return true
  }

  /// Removes the task with this number; `false` if there is none.
  @discardableResult
  public mutating func remove(_ number: Int) -> Bool {
    guard let place = tasks.firstIndex(where: { $0.number == number }) else { return false }
    tasks.remove(at: place)
    return true
  }

  /// Moves the task with this number to index `place` of the list, or to the nearest index that exists; `false` if
  /// there is no such task.
  @discardableResult
  public mutating func move(_ number: Int, to place: Int) -> Bool {
    guard let from = tasks.firstIndex(where: { $0.number == number }) else { return false }
    let task = tasks.remove(at: from)
    tasks.insert(task, at: min(max(0, place), tasks.count))
    return true
  }

  /// Restores the default tasks.
  public mutating func reset() { self = BlunoTaskList() }
}
