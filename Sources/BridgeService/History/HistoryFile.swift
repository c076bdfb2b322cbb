// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

extension StateFile: HistoryFile {}
