// SPDX-License-Identifier: Apache-2.0

/// Something that a robot can be told to do by a number.
public struct BlunoTask: Sendable, Hashable {
  /// What is sent, in decimal digits: 0…9999. With two digits or more, only a robot that reads lines can tell where it
  /// ends.
  public let number: Int
  /// What it is called.
  public var name: String

  /// A task.
  ///
  /// - Throws: `BlunoError.outOfRange`.
  public init(number: Int, name: String) throws(BlunoError) {
    guard Self.range.contains(number) else { throw .outOfRange(argument: "task", value: number, range: Self.range) }
    self.init(uncheckedNumber: number, name: name)
  }

  private init(uncheckedNumber number: Int, name: String) {
    self.number = number
    self.name = name
  }

  /// The numbers that there can be.
  public static let range = 0...9_999

  /// What the remote control comes with.
  public static let defaults: [BlunoTask] = ["Status", "Remote", "Patrol", "Follow IR", "Avoid IR"].enumerated().map {
    BlunoTask(uncheckedNumber: $0.offset, name: $0.element)
  }
}

/// The tasks of a remote control, in the order in which they are shown.
public struct BlunoTaskList: Sendable, Hashable {
  /// The tasks; no number is there twice.
  public private(set) var tasks: [BlunoTask]

  /// A list with the tasks that the remote control comes with.
  public init() { tasks = BlunoTask.defaults }

  /// A list of these tasks.
  ///
  /// - Throws: `BlunoError.numberInUse` if two have one number.
  public init(_ tasks: [BlunoTask]) throws(BlunoError) {
    self.tasks = []
    for task in tasks { try append(task) }
  }

  /// The task with this number.
  public func task(_ number: Int) -> BlunoTask? { tasks.first { $0.number == number } }

  /// Appends a task.
  ///
  /// - Throws: `BlunoError.numberInUse`.
  public mutating func append(_ task: BlunoTask) throws(BlunoError) {
    if self.task(task.number) != nil { throw .numberInUse(task.number) }
    tasks.append(task)
  }

  /// Appends a task with the lowest number that is free, and returns it.
  ///
  /// - Throws: `BlunoError.outOfRange` if there is none.
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

  /// Moves the task with this number to a place in the list, or as near as there is one; `false` if there is none.
  @discardableResult
  public mutating func move(_ number: Int, to place: Int) -> Bool {
    guard let from = tasks.firstIndex(where: { $0.number == number }) else { return false }
    let task = tasks.remove(at: from)
    tasks.insert(task, at: min(max(0, place), tasks.count))
    return true
  }

  /// Back to what the remote control comes with.
  public mutating func reset() { self = BlunoTaskList() }
}
