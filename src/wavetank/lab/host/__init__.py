"""The lab's host half: the kernel in the cache, the cage, the guest process."""
