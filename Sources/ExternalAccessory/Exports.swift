// SPDX-License-Identifier: Apache-2.0

/// As on Apple's systems, `import ExternalAccessory` also imports Foundation.
@_exported import Foundation

/// The integer type of Objective-C's interfaces, which Foundation doesn't define on Linux.
public typealias NSInteger = Int
