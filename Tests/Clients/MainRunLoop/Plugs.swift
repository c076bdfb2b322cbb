// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import ExternalAccessory
import Glibc
import TestSupport

/// An accessory that is plugged in and unplugged again and again, while the main thread has much else to do.
final class Plugs: NSObject {
  private let count: Int
  private let load: Int
  private let source = FakeSource()
  private let manager: EAAccessoryManager
  private let told = Locked((connected: 0, disconnected: 0))

  /// `count` times; the main thread is busy for `load` milliseconds at a time.
  init(count: Int, load: Int) {
    (self.count, self.load) = (count, load)
    manager = EAAccessoryManager(sources: [source])
    super.init()
  }

  func run() -> Never {
    let load = Double(load) / 1_000
    let center = NotificationCenter.default
    let observers = [
      center.addObserver(forName: .EAAccessoryDidConnect, object: manager, queue: nil) { [self] _ in
        told.withLock { $0.connected += 1 }
      },
      center.addObserver(forName: .EAAccessoryDidDisconnect, object: manager, queue: nil) { [self] _ in
        told.withLock { $0.disconnected += 1 }
      },
    ]
    manager.registerForLocalNotifications()
    let work = Timer(timeInterval: 0.001, repeats: true) { _ in
      let end = Date(timeIntervalSinceNow: load)
      while Date() < end {}
    }
    RunLoop.main.add(work, forMode: .common)
    Thread { [self] in
      for index in 0..<count {
        let device = Device.af1(at: "/dev/null", serial: "\(index)")
        source.add(device)
        usleep(50_000)
        source.remove(device)
        usleep(50_000)
      }
      for _ in 0..<1_000 where told.withLock({ $0.disconnected }) < count { usleep(10_000) }
      let (connected, disconnected) = told.withLock { $0 }
      print("connected \(connected), disconnected \(disconnected) of \(count)")
      fflush(nil)
      exit(connected == count && disconnected == count ? 0 : 1)
    }.start()
    RunLoop.main.run()
    fail("the run loop has ended, with \(observers.count) observers")
  }
}
