// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO
import CUmockdev
import Dispatch
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Tests that see umockdev's /sys and /dev. A process has one of those, so they run one after another; and they need its
/// library loaded before all others, which `make test` does: `umockdev-wrapper swift test --filter '^UdevMockTests'`.
@Suite(.serialized, .timeLimit(.minutes(Patience.minutes(5))))
enum UdevMock {}

/// An empty /sys and /dev, to plug things into. Gone with this value.
final class Testbed {
  private let testbed: UnsafeMutablePointer<UMockdevTestbed>

  /// Makes it. Throws where umockdev is not loaded.
  init() throws {
    testbed = try #require(umockdev_testbed_new())
    guard umockdev_in_mock_environment() != 0 else {
      throw Hang("umockdev, which isn't loaded: run these by make test, or umockdev-wrapper swift test")
    }
  }

  deinit { g_object_unref(testbed) }

  /// Where the files are really.
  var root: String {
    let path = umockdev_testbed_get_root_dir(testbed)!
    defer { g_free(path) }
    return String(cString: path)
  }

  /// Adds devices in umockdev's form, each told as `add`.
  func add(_ text: String) throws {
    var error: UnsafeMutablePointer<GError>?
    guard umockdev_testbed_add_from_string(testbed, text, &error) != 0 else {
      let message = error.map { String(cString: $0.pointee.message) } ?? "?"
      throw Hang("a device that umockdev takes; it says: \(message)")
    }
    drain()
  }

  /// Waits until the I/O thread has taken the messages. umockdev sends them through a socket that holds ten, and aborts
  /// when one doesn't fit; so nobody can be faster than the I/O thread here, only faster than those behind it.
  private func drain() {
    for _ in 0..<2 {
      let isDone = DispatchSemaphore(value: 0)
      IOThread.shared.post { isDone.signal() }
      isDone.wait()
    }
  }

  /// Sends a message about a device, with the properties that it has in the testbed.
  func tell(_ action: String, _ devpath: String) {
    umockdev_testbed_uevent(testbed, "/sys" + devpath, action)
    drain()
  }

  /// Takes a device's directory away; tells nobody.
  func erase(_ devpath: String) { umockdev_testbed_remove_device(testbed, "/sys" + devpath) }

  func set(_ devpath: String, property: String, _ value: String) {
    umockdev_testbed_set_property(testbed, "/sys" + devpath, property, value)
  }

  func set(_ devpath: String, link: String, _ target: String) {
    unlink("\(root)/sys\(devpath)/\(link)")
    umockdev_testbed_set_attribute_link(testbed, "/sys" + devpath, link, target)
  }

  /// Writes a file of a device's directory as it is.
  func write(_ devpath: String, file: String, _ bytes: [UInt8]) throws {
    let descriptor = open("\(root)/sys\(devpath)/\(file)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw Errno(rawValue: errno)
    }
    close(descriptor)
  }

  /// Makes a node that is a link to another, and lets every user see the testbed.
  func link(_ node: String, to target: String) throws {
    var path = root
    guard chmod(path, 0o755) == 0 else { throw Errno(rawValue: errno) }
    for part in node.split(separator: "/").dropLast() {
      path += "/" + part
      mkdir(path, 0o755)
    }
    guard symlink(target, root + node) == 0 else { throw Errno(rawValue: errno) }
  }

  // MARK: - Whole devices

  func plug(_ device: MockUSB) throws { try add(device.text) }

  /// Tells that all of a device is gone, children first as the kernel does, and then takes it away.
  func unplug(_ device: MockUSB) {
    for path in device.devpaths.reversed() { tell("remove", path) }
    for path in device.devpaths.reversed() { erase(path) }
  }
}

/// Reads a source's events, sees to it that each fits what was told before, and keeps what is there.
final class Follower: Sendable {
  struct State: Sendable {
    var present: Set<Device> = []
    var log: [DeviceEvent] = []
    var mistakes: [String] = []

    /// The device of this identity.
    func device(_ id: String) -> Device? { present.first { $0.id == id } }
    /// The identities, sorted.
    var ids: [String] { present.map(\.id).sorted() }
  }

  private let state = Watched(State())
  private let task: Task<Void, Never>

  init(_ source: some DeviceSource) async throws {
    let events = try await source.events()
    task = Task { [state] in
      for await event in events { state.update { Self.take(event, &$0) } }
    }
  }

  private static func take(_ event: DeviceEvent, _ state: inout State) {
    state.log.append(event)
    switch event {
    case .added(let device):
      if state.present.contains(where: { $0.id == device.id && $0.address == device.address }) {
        state.mistakes.append("\(device.id) came twice")
      }
      state.present.insert(device)
    case .changed(let device, let old):
      if state.present.remove(old) == nil { state.mistakes.append("\(old.id) changed and was not there") }
      if old.id != device.id { state.mistakes.append("\(old.id) became \(device.id)") }
      state.present.insert(device)
    case .removed(let device):
      if state.present.remove(device) == nil { state.mistakes.append("\(device.id) went and was not there") }
    }
  }

  /// What has been told so far.
  var now: State { state.value }

  /// Waits until what is there fulfils the condition. When the test's time is up, says what was told and what is there.
  @discardableResult
  func wait(_ condition: @escaping @Sendable (State) -> Bool) async throws -> State {
    do {
      let state = try await state.wait(until: condition)
      #expect(state.mistakes == [])
      return state
    } catch {
      let there = try? await Task.detached { try await UdevSource().devices() }.value
      let state = now
      Issue.record(
        """
        the \(state.log.count) events told so far make \(state.present.map(\.address.description)), the last is \
        \(state.log.last.map { "\($0)" } ?? "none"); there is \(there?.map(\.address.description) ?? [])
        """)
      throw error
    }
  }

  /// Stops reading, and waits until that is done.
  func stop() async {
    task.cancel()
    await task.value
  }
}
