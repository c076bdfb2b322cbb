// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import BridgeService

/// When values are told: at most once a second, the latest.
@Suite struct ValueNewsTests {
  private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

  @Test func newsOfValuesComeOnceASecond() {
    var news = ValueNews()
    #expect(news.deadline == nil && news.take(of: nil, now: time(0)).isEmpty)
    var reading = ValuesReading([AccessoryValue("u", number: 1), AccessoryValue("i", number: 1)], at: time(100))
    news.add(["u"], now: time(100))
    #expect(news.deadline == time(100))
    #expect(news.take(of: reading, now: time(100)).map(\.value) == [AccessoryValue("u", number: 1)])
    // What comes within the second waits, and is told as it is then.
    for number in 2...50 {
      reading.take([AccessoryValue("u", number: Double(number))], at: time(100 + Int64(number)))
      news.add(["u"], now: time(100 + Int64(number)))
      #expect(news.deadline == time(1_100) && news.take(of: reading, now: time(100 + Int64(number))).isEmpty)
    }
    news.add(["i"], now: time(900))
    let told = news.take(of: reading, now: time(1_100))
    #expect(told.map(\.value) == [AccessoryValue("u", number: 50), AccessoryValue("i", number: 1)])
    #expect(told.first?.time == time(150) && news.deadline == nil)
    // After a pause at once again.
    news.add(["i"], now: time(5_000))
    #expect(news.deadline == time(5_000))
  }

  @Test func whatIsForgottenIsNotTold() {
    var news = ValueNews()
    news.add(["u"], now: time(0))
    news.forget()
    #expect(news.deadline == nil)
    #expect(news.take(of: ValuesReading([AccessoryValue("u", number: 1)], at: time(0)), now: time(9)).isEmpty)
    // A name that is none is nothing to tell, and doesn't hold up the next.
    news.add(["x"], now: time(10))
    #expect(news.take(of: ValuesReading(), now: time(10)).isEmpty)
    news.add(["u"], now: time(11))
    #expect(news.deadline == time(11))
    news.add([], now: time(12))
  }
}
