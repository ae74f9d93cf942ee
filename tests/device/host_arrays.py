"""A GPU's memory, for stand-ins: arrays of the host."""

from __future__ import annotations

import numpy as np

from layout_algebra.device.launching import DeviceArray


class HostArrays:
    """What a device does with arrays."""

    def put(self, values):
        flat = np.ascontiguousarray(values).reshape(-1).copy()
        return DeviceArray(flat, flat.dtype, flat.size)

    def zeros(self, count, dtype):
        return self.put(np.zeros(count, dtype=dtype))

    def fetched(self, array):
        return array.buffer.copy()
