// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth
import Glibc

/// The story with the computer's Bluetooth. It prints what is to be done with the module ("do module vanish"), and waits for a line
/// then. At its end it has let everything go, and prints how many ticks of processor time two seconds take.
@main enum Program {
  static func main() async throws {
    let story = Story {
      say($0)
    } order: { order in
      say("do \(order)")
      guard readLine() != nil else { throw CancellationError() }
    }
    do { try await story.tell() } catch {
      say("FAILED: \(error)")
      exit(1)
    }
    // On a busy machine it may still have to finish what it did before.
    var taken = Int.max
    for _ in 0..<5 where taken > 1 {
      let before = ticks()
      try await Task.sleep(for: .seconds(2))
      taken = ticks() - before
    }
    say("\(taken <= 1 ? "ok" : "FAILED"): \(taken) ticks in two seconds afterwards")
    exit(taken <= 1 ? 0 : 1)
  }

  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  /// Of the processor, by this process: 100 a second.
  private static func ticks() -> Int {
    var used = tms()
    times(&used)
    return used.tms_utime + used.tms_stime
  }
}
